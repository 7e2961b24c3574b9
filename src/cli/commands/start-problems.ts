import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { readSecretsKeys } from '../../keys/secrets-key.js';
import { issuerProblem } from '../../store/issuer.js';
import { type Recorded, recordedAt } from '../../store/recorded.js';
import { DATABASE_FILE } from '../../store/store.js';
import { issuerClaimOf, secretsKeyFile } from '../from-config.js';
import { temporalAccess } from '../roles/temporal/access.js';
import { clientFiles, serverFiles } from '../roles/tls-files.js';

/** Why the service would not start with valid settings: their files and their database. */
export async function startProblems(config: Config, { offline = false } = {}): Promise<string[]> {
  const files = [
    problemOf(() => serverFiles(config)),
    problemOf(() => clientFiles(config)),
    problemOf(() => temporalAccess(config)),
    problemOf(() => keyFile(config)),
  ];
  const found = await Promise.all([...files, ...(offline ? [] : [databaseProblem(config)])]);
  return found.filter((problem) => problem !== undefined);
}

/** Before `integration init`, and in a demo, the file may be missing. */
function keyFile(config: Config): void {
  const { path } = secretsKeyFile(config);
  if (existsSync(path)) {
    readSecretsKeys(path);
  }
}

async function databaseProblem(config: Config): Promise<string | undefined> {
  const { DATA_DIR: dataDir, DATABASE_URL } = config;
  if (DATABASE_URL === undefined && !existsSync(join(dataDir, DATABASE_FILE))) {
    return undefined;
  }
  return problemOf(async () => {
    const problem = misfitOf(await recordedAt({ dataDir, databaseUrl: DATABASE_URL?.reveal() }), config);
    if (problem !== undefined) {
      throw new Error(problem);
    }
  });
}

function misfitOf({ environment, issuer, required }: Recorded, config: Config): string | undefined {
  if (environment !== undefined && environment !== config.ENVIRONMENT) {
    return `The database belongs to the ${environment} environment, and ENVIRONMENT is ${config.ENVIRONMENT}.`;
  }
  if (required.length > 0) {
    return `The database was migrated by a newer version of the service (it has ${required.join(', ')}).`;
  }
  return issuerProblem(issuer, issuerClaimOf(config));
}

async function problemOf(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
