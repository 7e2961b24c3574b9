import { sql } from 'kysely';
import { publicIdPrefixes } from '../../../../generated/ids.js';
import type { Changes, PlatformRows, PlatformUnitOfWork } from '../../../domain/platform/unit-of-work.js';
import type { CommonChanges, WriteOrigin } from '../../../domain/unit-of-work.js';
import { type Database, keptRows, type Writer } from '../../database.js';
import { credentialRows, integrationNoticeRows } from '../credentials/credential-rows.js';
import { isPostgres } from '../statements/dialect.js';
import { keptPosted } from '../statements/kept-statement.js';
import { type DueListener, type NoteDue, unitOfWorkOver } from '../unit-of-work.js';
import { EventRecorder, type OnInvalidEvent } from '../webhooks/event-recorder.js';
import { accountRows } from './accounts.js';
import { forgetPerson } from './erasure.js';
import {
  clientRows,
  instanceRows,
  jobTitleRows,
  locationRows,
  unitRows,
  unitTypeRows,
} from './organization.js';
import { roleRows } from './roles.js';
import { userRows } from './users.js';
import { workerRows } from './workers.js';

/** `due` as for every unit of work. */
export function platformUnitOfWork(
  database: Database,
  due?: DueListener,
  onInvalidEvent?: OnInvalidEvent,
): PlatformUnitOfWork {
  return unitOfWorkOver(
    database,
    platformRows,
    (writer, common, noteDue, origin) => changesIn(writer, common, noteDue, origin, onInvalidEvent),
    due,
  );
}

export function changesIn(
  writer: Writer,
  common: CommonChanges,
  noteDue: NoteDue,
  origin: WriteOrigin,
  onInvalidEvent?: OnInvalidEvent,
): Changes {
  // Most writes record no event.
  let events: EventRecorder | undefined;
  const mayDelay = origin.limitedTo !== undefined && isPostgres(writer);
  return {
    ...common,
    ...platformRows(writer),
    lock: async (...subjectIds) => {
      for (const id of subjectIds) {
        await common.lock(id);
        if (mayDelay && id.startsWith(`${publicIdPrefixes.AccountId}_`)) {
          await waitBriefly(writer, {});
        }
      }
    },
    forgetPerson: (person) => forgetPerson(writer, person),
    recordEvent: (...recorded) => {
      events ??= new EventRecorder(writer, common.now, origin, noteDue, onInvalidEvent);
      return events.record(recorded);
    },
  };
}

/**
 * For what the write of a limited token locks after an account: the sign-ins of the person, who may belong to
 * another instance, wait for it meanwhile. If the time is over, the write begins anew, behind them.
 */
const waitBriefly = keptPosted(() => sql`select set_config('lock_timeout', '100ms', true)`);

export const platformRows = keptRows(
  (writer): PlatformRows => ({
    ...credentialRows(writer),
    integrationNotices: integrationNoticeRows(writer),
    instances: instanceRows(writer),
    clients: clientRows(writer),
    accounts: accountRows(writer),
    roles: roleRows(writer),
    users: userRows(writer),
    unitTypes: unitTypeRows(writer),
    units: unitRows(writer),
    locations: locationRows(writer),
    jobTitles: jobTitleRows(writer),
    workers: workerRows(writer),
  }),
);
