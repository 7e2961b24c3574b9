import { mkdirSync } from 'node:fs';
import type { Config } from '../../config/config.js';
import { createFirstOperatorToken } from '../../domain/operator/service-tokens.js';
import { ServiceError } from '../../errors/service-error.js';
import { makeSecretsKeys } from '../../keys/secrets-key.js';
import { openStore } from '../../store/store.js';
import { StoreError } from '../../store/store-error.js';
import { secretsKeyFile, withSecretsKeyFile } from '../secrets-key-file.js';
import { StartupError } from '../startup-error.js';
import { print, say } from './print.js';

/** Who the audit log says made the first token. */
const ACTOR = { type: 'command', id: 'init' };

/**
 * Makes a live environment. The token comes last and is what makes it one, so that after an attempt that was cut short the next one goes on where that
 * stood, and after one that was not the next is refused.
 */
export async function init(config: Config, { json }: { json?: boolean }): Promise<void> {
  if (config.ENVIRONMENT === 'demo') {
    throw new StartupError('A demo environment makes itself: start it with `make run`. `init` is for live.');
  }
  const operatorToken = await makeEnvironment(config);
  const { DATA_DIR: dataDir } = config;
  const { path, warning } = secretsKeyFile(config);
  if (warning !== undefined) {
    say(warning);
  }
  print(
    json
      ? JSON.stringify(
          { environment: config.ENVIRONMENT, dataDir, secretsKeyFile: path, operatorToken },
          null,
          2,
        )
      : `The ${config.ENVIRONMENT} environment is made.

  Data directory   ${dataDir}
  Encryption key   ${path}

Back up both, and apart from each other: without the key file what is encrypted in the database is lost,
and whoever has both can open it. A container needs a volume for each.

The first operator token, shown this once:

  ${operatorToken}

What comes next

  1. Start it:                integration serve
  2. Let the command use it:  export INTEGRATION_TOKEN=…
  3. Make an instance:        integration instance create "…"
`,
  );
}

async function makeEnvironment(config: Config): Promise<string> {
  makeDirectory(config.DATA_DIR);
  const store = await openStore({
    environment: config.ENVIRONMENT,
    dataDir: config.DATA_DIR,
    databaseUrl: config.DATABASE_URL?.reveal(),
  }).catch((error: unknown) => {
    throw error instanceof StoreError ? new StartupError(error.message, { cause: error }) : error;
  });
  try {
    const { token } = await store.operator.run(ACTOR, async (changes) => {
      const { path } = secretsKeyFile(config);
      const issued = await createFirstOperatorToken(changes, config.ENVIRONMENT);
      // Before the commit: a token without the key would be an environment that nobody can finish.
      withSecretsKeyFile(() => makeSecretsKeys(path));
      return issued;
    });
    return token;
  } catch (error) {
    throw error instanceof ServiceError
      ? new StartupError(`The environment is made already: ${error.message}`, { cause: error })
      : error;
  } finally {
    await store.close();
  }
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartupError(`The directory ${path} cannot be made: ${(error as Error).message}.`);
  }
}
