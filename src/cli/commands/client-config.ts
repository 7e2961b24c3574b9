import { type Config, loadConfig } from '../../config/config.js';
import { withoutSecretFiles } from '../../config/secret-files.js';

/** The settings for commands that call the service. ENVIRONMENT is demo by default. */
export function clientConfig(): Config {
  const { env } = process;
  return loadConfig(withoutSecretFiles({ ...env, ENVIRONMENT: env.ENVIRONMENT ?? 'demo' }));
}
