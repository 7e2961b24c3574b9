import { type Config, loadConfig } from '../../config/config.js';
import { secretOf } from '../../config/secret-files.js';
import { explaining } from '../explaining.js';
import { UsageError } from './errors.js';

/**
 * For commands that call the service, which need none of its secrets. Where ENVIRONMENT is not set, it is
 * that of the token; without a token, the demo.
 */
export function clientConfig(token?: string): Config {
  const { env } = process;
  const ENVIRONMENT = env.ENVIRONMENT || (token?.includes('_live_') ? 'live' : 'demo');
  return loadConfig({ ...env, ENVIRONMENT }, { secrets: [] });
}

/** What is in the file that a variable names; undefined if the variable is not set. */
export function secretNamedBy(variable: string): string | undefined {
  const path = process.env[variable];
  const unusable = (why: string) => `${variable} names a file that ${why}.`;
  return path ? explaining(UsageError, unusable, () => secretOf(path)) : undefined;
}
