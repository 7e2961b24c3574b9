import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Config, ConfigError } from '../../config/config.js';
import { LOST_AUDIT_KEY, readSecretsKeys } from '../../keys/secrets-key.js';
import { lacksAuditKey } from '../../store/adapters/seals.js';
import { lackingKey } from '../../store/checks/settings.js';
import { DATABASE_FILE, refuseHalfFilled } from '../../store/data-directory.js';
import type { Reader } from '../../store/database.js';
import { refuseOther } from '../../store/issuer.js';
import { refuseNewer } from '../../store/migrate.js';
import { refuseMoved } from '../../store/moves/moved-file.js';
import { type Recorded, reading, recordedIn } from '../../store/recorded.js';
import { refuseOtherEnvironment } from '../../store/store.js';
import { issuerClaimOf, secretsKeyFile } from '../from-config.js';
import type { RoleName } from '../roles/role.js';
import { allRoleRights, ownTokenOf, refuseTokenOfServe, roleRights } from '../roles/role-tokens.js';
import { temporalAccess } from '../roles/temporal/access.js';
import { clientFiles, serverFiles } from '../roles/tls-files.js';
import { refuseLongRunDir, refuseLongSocket, refuseUnreachableDomain, socketPathOf } from '../sockets.js';
import { StartupError } from '../startup-error.js';

/** What a start needs, and the roles that need it. Each throws what is wrong. */
type Needs = readonly (readonly [need: (config: Config) => unknown, ...roles: RoleName[]])[];

/** What can be checked before `integration init`. */
const ALWAYS: Needs = [
  [refuseUnreachableDomain, 'domain'],
  [serverFiles, 'domain'],
  [clientFiles, 'edge', 'worker'],
  [temporalAccess, 'worker'],
  [keyFile, 'domain'],
  [refuseLongSocket, 'domain'],
];

/** What `integration init` or an earlier start made. */
const MADE: Needs = [
  [keyFileOfLive, 'domain'],
  [database, 'domain'],
];

/** What `serve` needs: a folder for the sockets by which it asks its roles, and the tokens of the roles. */
const TOGETHER: Needs = [
  [refuseLongRunDir],
  [dataFolder],
  ...allRoleRights.map((right) => [(config: Config) => refuseTokenOfServe(config, right)] as const),
];

/** What `serve` arranges for its roles. */
const ALONE: Needs = [
  [dataFolderOfDomain, 'domain'],
  ...allRoleRights.map(
    (right) => [(config: Config) => ownTokenOf(config, right), roleRights[right].sender] as const,
  ),
];

/** Why the service, or one role by itself, would not start with valid settings. */
export async function startProblems(
  config: Config,
  { offline = false, role }: { offline?: boolean | undefined; role?: RoleName | undefined } = {},
): Promise<string[]> {
  const needs = [...(role === undefined ? TOGETHER : ALONE), ...ALWAYS, ...(offline ? [] : MADE)];
  const found = await Promise.all(
    needs
      .filter(([, ...roles]) => role === undefined || roles.includes(role))
      .map(([need]) => problemsOf(() => need(config))),
  );
  // A damaged or missing key file is found twice.
  return [...new Set(found.flat())];
}

/** With PostgreSQL and without a socket, it keeps nothing there. */
function dataFolderOfDomain(config: Config): void {
  if (config.DATABASE_URL === undefined || socketPathOf(config.DOMAIN_ADDRESS) !== undefined) {
    dataFolder(config);
  }
}

/** Makes nothing: a start makes what is missing below the nearest directory that exists. */
function dataFolder({ DATA_DIR }: Config): void {
  let nearest = resolve(DATA_DIR);
  while (!existsSync(nearest)) {
    nearest = dirname(nearest);
  }
  if (!statSync(nearest).isDirectory()) {
    throw new Error(`DATA_DIR names ${DATA_DIR}, which cannot be a directory: ${nearest} is a file.`);
  }
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch (error) {
    const what = nearest === resolve(DATA_DIR) ? 'written' : 'made';
    const { code } = error as NodeJS.ErrnoException;
    const why = `this user may not write ${nearest} (${code})`;
    throw new Error(`DATA_DIR names ${DATA_DIR}, which cannot be ${what}: ${why}.`);
  }
}

function keyFile(config: Config): void {
  const { path } = secretsKeyFile(config);
  if (existsSync(path)) {
    readSecretsKeys(path);
  }
}

/** A start makes only that of a demo. */
function keyFileOfLive(config: Config): void {
  if (config.ENVIRONMENT === 'live') {
    readSecretsKeys(secretsKeyFile(config).path);
  }
}

async function database(config: Config): Promise<void> {
  const { DATA_DIR: dataDir, DATABASE_URL, ENVIRONMENT } = config;
  if (DATABASE_URL === undefined) {
    refuseHalfFilled(dataDir);
    refuseMoved(dataDir);
    if (ENVIRONMENT === 'demo' && !existsSync(join(dataDir, DATABASE_FILE))) {
      return;
    }
  }
  await reading({ dataDir, databaseUrl: DATABASE_URL?.reveal() }, async (reader) => {
    const recorded = await recordedIn(reader);
    refuseOtherEnvironment(recorded.environment, ENVIRONMENT);
    refuseNewer(recorded.required);
    refuseOther(recorded.issuer, issuerClaimOf(config));
    await refuseWithoutKey(reader, recorded, config);
  });
}

/** Earlier releases did not record the key. */
const FIRST_WITH_KEYS = '0013-encryption-keys';

/** At the first start of a demo, the key file may be missing. */
async function refuseWithoutKey(reader: Reader, { environment, missing }: Recorded, config: Config) {
  const { path } = secretsKeyFile(config);
  if (environment === undefined || (environment === 'demo' && !existsSync(path))) {
    return;
  }
  const keyIds = readSecretsKeys(path).map(({ id }) => id);
  if (missing.includes(FIRST_WITH_KEYS)) {
    return;
  }
  const lacking = await lackingKey(reader, keyIds);
  if (lacking !== undefined) {
    throw new StartupError(`The key file ${path} lacks ${lacking}, which the database needs.`);
  }
  if (await lacksAuditKey(reader)) {
    throw new StartupError(LOST_AUDIT_KEY);
  }
}

async function problemsOf(work: () => unknown): Promise<readonly string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [(error as Error).message];
  }
}
