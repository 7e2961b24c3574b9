import type { Insertable } from 'kysely';
import type { EventType } from '../../../../generated/asyncapi/events.js';
import type {
  Changes,
  PlatformRows,
  PlatformUnitOfWork,
  RecordedEvent,
} from '../../../domain/platform/unit-of-work.js';
import type { CommonChanges, WriteOrigin } from '../../../domain/unit-of-work.js';
import { faultOfEvent } from '../../../domain/webhooks/event-check.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { keptRows } from '../../camel-case.js';
import type { Database, Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { credentialRows } from '../credentials/credential-rows.js';
import { integrationNoticeRows } from '../credentials/notices.js';
import { keptStatement } from '../statements/kept-statement.js';
import { type DueListener, type NoteDue, unitOfWorkOver } from '../unit-of-work.js';
import { FanOut } from '../webhooks/fan-out.js';
import { nextSequence } from '../webhooks/sequence.js';
import { accountRows } from './accounts.js';
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

/** Called for an event that violates the contract of webhooks, which is a fault of this service. */
export type OnInvalidEvent = (type: EventType, fault: string) => void;

const refuseInvalidEvent: OnInvalidEvent = (type, fault) => {
  throw new Error(`The event ${type} violates its contract: ${fault}`);
};

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
  onInvalidEvent: OnInvalidEvent = refuseInvalidEvent,
): Changes {
  const { now } = common;
  // Most writes record no event.
  let fanOut: FanOut | undefined;
  return {
    ...common,
    ...platformRows(writer),
    recordEvent: (event) => {
      fanOut ??= new FanOut(writer, now, noteDue);
      return recordEvent(writer, { now, origin }, fanOut, event, onInvalidEvent);
    },
  };
}

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

const eventInsertion = keptStatement(
  (db, row: Omit<Insertable<Schema['events']>, 'seq' | 'is_test' | 'sequence'>) =>
    db
      .insertInto('events')
      .values({ ...row, sequence: nextSequence(row.entity_id, row.occurred_at) })
      .returning('seq'),
);

/** The receivers are fixed here, in the transaction of the change, which has locked the client. */
async function recordEvent<T extends EventType>(
  writer: Writer,
  { now, origin }: { now: number; origin: WriteOrigin },
  fanOut: FanOut,
  event: RecordedEvent<T>,
  onInvalidEvent: OnInvalidEvent,
): Promise<void> {
  const { type, instanceId, clientId, entity, data } = event;
  const id = newPublicId('EventId');
  const fault = faultOfEvent(event, { id, occurredAt: now });
  if (fault !== undefined) {
    onInvalidEvent(type, fault);
  }
  // Last, so that the last placeholder in the text is the link's.
  const { links, ...payload } = data;
  const insertion = eventInsertion(writer, {
    id,
    type,
    occurred_at: now,
    instance_id: instanceId,
    client_id: clientId,
    entity_type: entity.type,
    entity_id: entity.id,
    data: JSON.stringify({ ...payload, links }),
    request_id: origin.requestId ?? null,
    traceparent: origin.traceparent ?? null,
  });
  const [{ rows }] = await Promise.all([insertion, fanOut.receiversOn(instanceId)]);
  const [{ seq }] = rows as [{ seq: number }];
  await fanOut.deliver({ seq, id, type, instanceId, clientId });
}
