import type { Config } from '../config/config.js';
import { makeSecretsKey, readSecretsKey, SecretsKeyError } from '../keys/secrets-key.js';
import { StartupError } from './startup-error.js';

/** The key that this environment's secrets hang on. A demo makes its own at its first start; on live `integration init` did. */
export function secretsKeyOf({ ENVIRONMENT, SECRETS_KEY_FILE }: Config): Buffer {
  return withSecretsKeyFile(() =>
    ENVIRONMENT === 'demo' ? makeSecretsKey(SECRETS_KEY_FILE) : readSecretsKey(SECRETS_KEY_FILE),
  );
}

/** What is wrong with the key file is for whoever started the service to mend. */
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
