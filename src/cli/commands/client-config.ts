import { type Config, loadConfig } from '../../config/config.js';
import { secretOf, withoutSecretFiles } from '../../config/secret-files.js';
import { UsageError } from './errors.js';

/** The settings for commands that call the service. ENVIRONMENT is demo by default. */
export function clientConfig(): Config {
  const { env } = process;
  return loadConfig(withoutSecretFiles({ ...env, ENVIRONMENT: env.ENVIRONMENT ?? 'demo' }));
}

/** What is in the file that a variable names; undefined if the variable is not set. */
export function secretNamedBy(variable: string): string | undefined {
  const path = process.env[variable];
  try {
    return path ? secretOf(path) : undefined;
  } catch (error) {
    throw new UsageError(`${variable} names a file that ${(error as Error).message}.`);
  }
}
