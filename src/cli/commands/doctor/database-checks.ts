import { statSync } from 'node:fs';
import { readSecretsKeys } from '../../../keys/secrets-key.js';
import { type Check, foundIn } from '../../../store/checks/check.js';
import { damageChecks } from '../../../store/checks/damage.js';
import { objectsAreOurs } from '../../../store/checks/foreign-objects.js';
import { deliveriesAreOnTime, noCredentialExpiresSoon, purgeKeepsUp } from '../../../store/checks/in-time.js';
import { pagesAreSound } from '../../../store/checks/integrity.js';
import {
  changesAreNotHeldBack,
  clocksAgree,
  indexesAreValid,
  locksAreFree,
  noTransactionIsIdle,
} from '../../../store/checks/postgres-activity.js';
import {
  issuerIsAccepted,
  keyFileFits,
  migrationsAreOurs,
  nodesAgree,
} from '../../../store/checks/settings.js';
import { issuerClaimOf, retentionOf, secretsKeyFile } from '../../from-config.js';
import { type DoctorCheck, type Installation, requireDomain, Skipped, skipUnless } from './check.js';

const MEBIBYTE = 1_048_576;
/** A slow disk reads this in about two seconds, in which this process does nothing else. */
const MOST_CHECKED_BYTES = 256 * MEBIBYTE;
/** For reading rows; the time limit of a whole check is longer. */
const READING_LIMIT_MS = 5_000;

const databaseIsReadable: DoctorCheck = {
  name: 'database',
  about: 'The database can be read.',
  severity: 'error',
  remedy:
    'Set DATA_DIR or DATABASE_URL to the database of the service; `integration init` makes a new one. Restore one that is damaged from a backup.',
  find: ({ config, database: { problem } }) => {
    if (config.DATABASE_URL === undefined) {
      requireDomain(config);
    }
    return foundIn(problem === undefined ? [] : [problem]);
  },
};

export const databaseChecks: readonly DoctorCheck[] = [
  databaseIsReadable,
  of(migrationsAreOurs, () => ({})),
  of(objectsAreOurs, () => ({})),
  of(issuerIsAccepted, ({ config }) => ({
    issuer: issuerClaimOf(config),
    environment: config.ENVIRONMENT,
  })),
  of(keyFileFits, keySettings),
  of(nodesAgree, keySettings),
  of(
    pagesAreSound,
    ({ database: { file }, thorough }) => ({ databaseBytes: statSync(file).size, thorough }),
    requireReadable,
  ),
  ofPostgres(clocksAgree),
  ofPostgres(locksAreFree),
  ofPostgres(noTransactionIsIdle),
  ofPostgres(changesAreNotHeldBack),
  ofPostgres(indexesAreValid),
  ...damageChecks.map((check) =>
    of(check, ({ config, thorough }) => ({
      now: Date.now(),
      eventsMs: config.EVENT_RETENTION,
      endsAt: thorough ? undefined : performance.now() + READING_LIMIT_MS,
    })),
  ),
  of(deliveriesAreOnTime, () => ({ now: Date.now() })),
  of(purgeKeepsUp, ({ config }) => ({
    now: Date.now(),
    retention: retentionOf(config),
    purgeEveryMs: config.PURGE_INTERVAL,
  })),
  of(noCredentialExpiresSoon, () => ({ now: Date.now() })),
];

/** `requireCase` skips the check where it does not apply. */
function of<Settings>(
  check: Check<Settings>,
  settingsOf: (installation: Installation) => Settings,
  requireCase: (installation: Installation) => void = () => undefined,
): DoctorCheck {
  return {
    ...check,
    find: (installation) => {
      const reader = installation.database.reader();
      requireCase(installation);
      return check.find(reader, settingsOf(installation));
    },
  };
}

function ofPostgres(check: Check<object>): DoctorCheck {
  return of(
    check,
    () => ({}),
    ({ database }) => skipUnless(database.isPostgres, 'it is for PostgreSQL'),
  );
}

function requireReadable({ database: { isPostgres, file }, thorough }: Installation): void {
  skipUnless(
    !isPostgres,
    'it is for SQLite; PostgreSQL checks its pages itself if data checksums are on (`show data_checksums`)',
  );
  const { size } = statSync(file);
  skipUnless(
    thorough || size <= MOST_CHECKED_BYTES,
    `the file has ${Math.ceil(size / MEBIBYTE)} MiB; --thorough checks it, and a backup checks its copy`,
  );
}

function keySettings({ config }: Installation) {
  try {
    const keys = readSecretsKeys(secretsKeyFile(config).path);
    return { keyIds: keys.map(({ id }) => id), ownIssuer: config.SIGN_ON_URL };
  } catch {
    throw new Skipped('the key file cannot be read');
  }
}
