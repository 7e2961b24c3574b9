import { type Config, loadConfig } from '../../config/config.js';
import { secretOf } from '../../config/secret-files.js';
import { INSECURITY_NAMES } from '../../config/settings.js';
import { UsageError } from './errors.js';

/**
 * For commands that call the service. They need none of its secrets, and accept settings that would be
 * insecure for it: DATABASE_URL, for example, may belong to another program.
 */
export function clientConfig(environment: 'demo' | 'live' = 'demo'): Config {
  const { env } = process;
  const given = { ENVIRONMENT: env.ENVIRONMENT || environment, INSECURE_ALLOWED: INSECURITY_NAMES.join() };
  return loadConfig({ ...env, ...given }, { secrets: [] });
}

/**
 * The value of a variable, or of the file that its `…_FILE` names; undefined if neither is set. A file that
 * cannot be used matters only where the variable is not set.
 */
export function secretGivenIn(variable: string): string | undefined {
  const { [variable]: given, [`${variable}_FILE`]: path } = process.env;
  if (!path) {
    return given || undefined;
  }
  let secret: string;
  try {
    secret = secretOf(path);
  } catch (error) {
    if (given) {
      return given;
    }
    throw new UsageError(`${variable}_FILE names a file that ${(error as Error).message}.`, { cause: error });
  }
  if (given && given !== secret) {
    throw new UsageError(`${variable} and ${variable}_FILE differ: only one of them may be set.`);
  }
  return secret;
}
