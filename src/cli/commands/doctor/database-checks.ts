import { statSync } from 'node:fs';
import { readSecretsKeys } from '../../../keys/secrets-key.js';
import { type Check, foundIn } from '../../../store/checks/check.js';
import { damageChecks } from '../../../store/checks/damage.js';
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
import { type DoctorCheck, type Installation, requireDomain, Skipped } from './check.js';

/** A slow disk reads this in about two seconds. */
const MOST_CHECKED_BYTES = 256 * 1_048_576;
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
  of(issuerIsAccepted, ({ config }) => ({
    issuer: issuerClaimOf(config),
    environment: config.ENVIRONMENT,
  })),
  of(keyFileFits, keySettings),
  of(nodesAgree, keySettings),
  of(
    pagesAreSound,
    ({ database, thorough }) => ({
      databaseBytes: statSync(database.file).size,
      mostBytes: thorough ? Number.POSITIVE_INFINITY : MOST_CHECKED_BYTES,
    }),
    (isPostgres) => isPostgres && 'PostgreSQL has checksums of its own',
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

/** `reasonToSkip` says where the check does not apply. */
function of<Settings>(
  check: Check<Settings>,
  settingsOf: (installation: Installation) => Settings,
  reasonToSkip: (isPostgres: boolean) => string | false = () => false,
): DoctorCheck {
  return {
    ...check,
    find: (installation) => {
      const reason = reasonToSkip(installation.database.isPostgres);
      if (reason) {
        throw new Skipped(reason);
      }
      return check.find(installation.database.reader(), settingsOf(installation));
    },
  };
}

function ofPostgres(check: Check<object>): DoctorCheck {
  return of(
    check,
    () => ({}),
    (isPostgres) => !isPostgres && 'it is for PostgreSQL',
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
