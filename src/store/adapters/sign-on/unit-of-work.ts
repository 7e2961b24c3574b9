import type { PlatformRows } from '../../../domain/platform/unit-of-work.js';
import type { SignOnRows, SignOnUnitOfWork } from '../../../domain/sign-on/sign-on.js';
import { type Database, keptRows, type Writer } from '../../database.js';
import { changesIn, platformRows } from '../platform/unit-of-work.js';
import { type DueListener, unitOfWorkOver } from '../unit-of-work.js';
import type { OnInvalidEvent } from '../webhooks/event-recorder.js';
import { knownApplicationRows } from './applications.js';
import { attemptRows } from './attempts.js';
import { codeMinutes, codeRows } from './codes.js';
import { identityRows } from './identities.js';
import { interactionRows, loginContextRows } from './interaction.js';
import { signingKeyRows } from './signing-keys.js';

/** Signing in activates users, which is an event; `due` as for every unit of work. */
export function signOnUnitOfWork(
  database: Database,
  due?: DueListener,
  onInvalidEvent?: OnInvalidEvent,
): SignOnUnitOfWork {
  return unitOfWorkOver(
    database,
    (reader) => ({ ...platformRows(reader), ...ownRows(reader) }),
    (writer, common, noteDue, origin) => ({
      ...changesIn(writer, common, noteDue, origin, onInvalidEvent),
      ...ownRows(writer),
    }),
    due,
  );
}

const ownRows = keptRows(
  (db: Writer): Omit<SignOnRows, keyof PlatformRows> => ({
    applications: knownApplicationRows(db),
    identities: identityRows(db),
    interactions: interactionRows(db),
    loginContexts: loginContextRows(db),
    codes: codeRows(db),
    codeMinutes: codeMinutes(db),
    attempts: attemptRows(db),
    signingKeys: signingKeyRows(db),
  }),
);
