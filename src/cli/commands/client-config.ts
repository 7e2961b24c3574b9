import { type Config, loadConfig } from '../../config/config.js';
import { secretOf } from '../../config/secret-files.js';
import { explaining } from '../explaining.js';
import { UsageError } from './errors.js';

/** For commands that call the service, which need none of its secrets. ENVIRONMENT is demo by default. */
export function clientConfig(environment: 'demo' | 'live' = 'demo'): Config {
  const { env } = process;
  return loadConfig({ ...env, ENVIRONMENT: env.ENVIRONMENT || environment }, { secrets: [] });
}

/** What is in the file that a variable names; undefined if the variable is not set. */
export function secretNamedBy(variable: string): string | undefined {
  const path = process.env[variable];
  const unusable = (why: string) => `${variable} names a file that ${why}.`;
  return path ? explaining(UsageError, unusable, () => secretOf(path)) : undefined;
}
