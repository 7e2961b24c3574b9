import { existsSync } from 'node:fs';
import type { Config } from '../../../config/config.js';
import type { AuditMac } from '../../../domain/operator/audit-chain.js';
import { createFirstOperatorToken } from '../../../domain/operator/service-tokens.js';
import { inNameOf } from '../../../domain/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { makeFolder } from '../../../files/folders.js';
import { makeSecretsKeys, readSecretsKeys } from '../../../keys/secrets-key.js';
import { openStore } from '../../../store/store.js';
import { asRefused } from '../../../store/store-error.js';
import { secretsKeyFile } from '../../from-config.js';
import { StartupError } from '../../startup-error.js';
import { useKeys } from '../copies/own-database.js';
import { print, say } from '../output/print.js';
import { asJson } from '../output/printable.js';
import { asTime } from '../output/table.js';
import { initTemporalToo } from './temporal.js';

export interface InitOptions {
  json?: boolean;
  tokenExpires: Date | 'never';
  replaceUnused?: boolean;
}

const IF_LOST = ' If you lost this token before its first use, run: integration init --replace-unused';

/** The actor of the first token in the audit log. */
const ACTOR = { type: 'command', id: 'init' };

/** Makes a live environment. Storing the token completes it: an interrupted attempt can be repeated. */
export async function init(config: Config, options: InitOptions): Promise<void> {
  const { json, tokenExpires, replaceUnused = false } = options;
  if (config.ENVIRONMENT === 'demo') {
    throw new StartupError('`init` is for live. A demo environment needs none: start it with `make run`.');
  }
  const expires = tokenExpires === 'never' ? undefined : tokenExpires;
  const { token, serviceToken, lost, hasNewKey } = await makeEnvironment(config, expires, replaceUnused);
  const { DATA_DIR: dataDir } = config;
  const { path, warning } = secretsKeyFile(config);
  if (warning !== undefined) {
    say(warning);
  }
  if (lost) {
    say(`The operator token ${lost.id}, which was never used, is revoked: the new one replaces it.`);
  }
  if (lost && hasNewKey) {
    say(
      `There was no key file here: ${path} is new. A key file from an earlier init of this database is void.`,
    );
  }
  const made = { environment: config.ENVIRONMENT, dataDir, secretsKeyFile: path, operatorToken: token };
  // Before anything that may fail or be ended: the token is shown nowhere else.
  print(
    json
      ? asJson({ ...made, operatorTokenExpiresAt: expires?.toISOString() ?? null })
      : `The ${config.ENVIRONMENT} environment is made.

  Data directory   ${dataDir}
  Encryption key   ${path}

Back up both, and apart from each other: without the key file what is encrypted in the database is lost,
and with both anyone can decrypt it. A container needs a volume for each.

The first operator token, shown this once:

  ${token}

It ${expires ? `ends ${asTime(expires)}. Before that` : 'never ends. After a leak'}, replace it: integration token rotate ${serviceToken.id}

What comes next

  1. Start it:                systemctl enable --now integration-service@serve
                              (on several machines: @domain; without the unit: integration serve)
  2. Save the token (paste it, press Enter, then Ctrl-D; without the unit, in another terminal):
                              (umask 077; cat > ~/operator.token)
  3. Let the command use it:  export INTEGRATION_TOKEN_FILE=~/operator.token
  4. Issue a platform token:  integration token create --role platform --label "Back office"
  5. Save it in the same way: (umask 077; cat > ~/platform.token)
  6. Make an instance:        INTEGRATION_TOKEN_FILE=~/platform.token integration instance create "…"
`,
  );
  await initTemporalToo(config);
}

async function makeEnvironment(config: Config, expires: Date | undefined, replacesUnused: boolean) {
  makeDirectory(config.DATA_DIR);
  const store = await openStore({
    environment: config.ENVIRONMENT,
    dataDir: config.DATA_DIR,
    // Refuses while a service uses the directory or a restore fills it.
    alone: true,
    databaseUrl: config.DATABASE_URL?.reveal(),
  });
  const { path } = secretsKeyFile(config);
  try {
    if (await store.seals.hasAuditChains()) {
      const ofService = { onBroken: () => undefined, onSpoiled: () => undefined };
      const chainRecords = (mac: AuditMac) => store.startAuditChains(mac, ofService);
      await useKeys({ seals: store.seals, chainRecords }, readSecretsKeys(path));
    }
    return await inNameOf(ACTOR, store.operator).run(async (changes) => {
      const options = { replacesUnused, expiresAt: expires?.getTime() };
      const issued = await createFirstOperatorToken(changes, config.ENVIRONMENT, options);
      const hasNewKey = !existsSync(path);
      // Before the commit: a token without a key file would be an environment that cannot be completed.
      makeSecretsKeys(path);
      return { ...issued, hasNewKey };
    });
  } catch (error) {
    throw error instanceof ServiceError && error.code === ErrorCode.TRANSITION_REFUSED
      ? new StartupError(`The environment exists already: ${error.message}${replacesUnused ? '' : IF_LOST}`, {
          cause: error,
        })
      : asRefused(error);
  } finally {
    await store.close();
  }
}

function makeDirectory(path: string): void {
  try {
    makeFolder(path);
  } catch (error) {
    throw new StartupError(`The directory ${path} cannot be made: ${(error as Error).message}.`);
  }
}
