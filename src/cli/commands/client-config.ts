import { type Config, loadConfig } from '../../config/config.js';
import { secretOf } from '../../config/secret-files.js';
import { UsageError } from './errors.js';

/** For commands that call the service, which need none of its secrets. ENVIRONMENT is demo by default. */
export function clientConfig(): Config {
  const { env } = process;
  return loadConfig({ ...env, ENVIRONMENT: env.ENVIRONMENT || 'demo' }, { secrets: [] });
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
