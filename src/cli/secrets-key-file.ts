import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config/config.js';
import type { EncryptionKey } from '../keys/encryption-key.js';
import { makeSecretsKeys, readSecretsKeys, SecretsKeyError } from '../keys/secrets-key.js';
import { StartupError } from './startup-error.js';

type KeyFileConfig = Pick<Config, 'ENVIRONMENT' | 'DATA_DIR' | 'SECRETS_KEY_FILE'>;

/** Where the key file is, and a warning about its place. */
export interface SecretsKeyFile {
  path: string;
  warning?: string;
}

/** SECRETS_KEY_FILE, or the place where the first releases put the file. */
export function secretsKeyFile({ DATA_DIR, SECRETS_KEY_FILE: path }: KeyFileConfig): SecretsKeyFile {
  const before = join(DATA_DIR, 'secrets.key');
  if (path === before || existsSync(path) || path !== `${DATA_DIR}.keys/secrets.key` || !existsSync(before)) {
    return { path };
  }
  const folder = dirname(path);
  return {
    path: before,
    warning: `The key file is in the data directory, so a backup of that directory carries the key to what is encrypted in it. Move it: mkdir -m 700 '${folder}' && mv '${before}' '${path}' (the service may be running).`,
  };
}

/** The encryption keys of this environment. A demo makes its own; on live `integration init` did. */
export function secretsKeysOf(config: KeyFileConfig): EncryptionKey[] {
  const { path } = secretsKeyFile(config);
  return withSecretsKeyFile(() =>
    config.ENVIRONMENT === 'demo' ? makeSecretsKeys(path) : readSecretsKeys(path),
  );
}

/** Turns a fault of the key file into a sentence for the operator. */
export function withSecretsKeyFile<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw asStartupError(error);
  }
}

export function asStartupError(error: unknown): unknown {
  return error instanceof SecretsKeyError ? new StartupError(error.message, { cause: error }) : error;
}
