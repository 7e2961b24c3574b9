import type { Config } from '../../../config/config.js';
import { readSecretsKeys } from '../../../keys/secrets-key.js';
import { moveToPostgres, type Outcome, type Progress } from '../../../store/moves/move-to-postgres.js';
import { issuerClaimOf, secretsKeyFile } from '../../from-config.js';
import { UsageError } from '../errors.js';
import { print, say } from '../output/print.js';
import { asJson } from '../output/printable.js';
import { asFacts } from '../output/table.js';
import { useKeys } from './own-database.js';

export interface MigrateStoreOptions {
  json?: boolean;
}

const TELL_EVERY_MS = 5_000;

export async function migrateStore(config: Config, { json }: MigrateStoreOptions): Promise<void> {
  const databaseUrl = config.DATABASE_URL?.reveal();
  if (databaseUrl === undefined) {
    throw new UsageError('Give the PostgreSQL database with --to, DATABASE_URL or DATABASE_URL_FILE.');
  }
  const keys = readSecretsKeys(secretsKeyFile(config).path);
  const outcome = await moveToPostgres({
    ...{ dataDir: config.DATA_DIR, databaseUrl, to: withoutSecrets(databaseUrl) },
    ...{ environment: config.ENVIRONMENT, issuer: issuerClaimOf(config), at: Date.now() },
    keyIds: keys.map(({ id }) => id),
    useKeys: (database) => useKeys(database, keys),
    onProgress: teller(),
  });
  print(json ? asJson(reportOf(outcome, config)) : asText(outcome, config));
}

/** Tells the end of a step, and every few seconds how far it is. */
function teller(): (progress: Progress) => void {
  let toldAt = performance.now();
  return ({ step, table, done, total }) => {
    if (done === total || performance.now() - toldAt >= TELL_EVERY_MS) {
      toldAt = performance.now();
      const place = done === total ? '' : `, in ${table}`;
      say(`${step === 'copied' ? 'Copied' : 'Compared'} ${done} of ${total} rows${place}.`);
    }
  };
}

/** User, host and database, for people and the audit log. Parameters can contain a password. */
function withoutSecrets(databaseUrl: string): string {
  const { username, host, pathname, searchParams } = new URL(databaseUrl);
  const socket = searchParams.get('host');
  return `postgres://${username === '' ? '' : `${username}@`}${host}${pathname}${socket === null ? '' : `?host=${socket}`}`;
}

function reportOf({ at, to, wasComplete, rows }: Outcome, { DATA_DIR }: Config) {
  return { movedAt: new Date(at).toISOString(), from: DATA_DIR, to, wasComplete, rows };
}

function asText({ at, to, wasComplete, rows }: Outcome, { DATA_DIR }: Config): string {
  const counts = Object.values(rows);
  const sum = counts.reduce((total, count) => total + count, 0);
  return `${wasComplete ? 'An earlier run has completed the move.' : 'The move is complete, and every row was compared with its source.'}

${asFacts([
  ['From', DATA_DIR],
  ['To', to],
  ['As of', new Date(at).toISOString()],
  ...(wasComplete ? [] : [['Rows', `${sum} in ${counts.length} tables`] as const]),
])}

Set DATABASE_URL to the PostgreSQL database and start the service. It refuses to start on the SQLite database from now on.`;
}
