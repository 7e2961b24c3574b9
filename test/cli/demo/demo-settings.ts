import { type Config, loadConfig } from '../../../src/config/config.js';
import type { PasswordHasher } from '../../../src/domain/credentials/passwords.js';
import { quickHasher } from '../../support/platform-dependencies.js';

export function settingsIn(dataDir: string, others: Record<string, string> = {}): Config {
  return loadConfig({ ENVIRONMENT: 'demo', DATA_DIR: dataDir, ...others });
}

/** Tells how often it was asked. */
export function countingHasher(): PasswordHasher & { count(): number } {
  let count = 0;
  return {
    ...quickHasher,
    hash: (password) => {
      count += 1;
      return quickHasher.hash(password);
    },
    count: () => count,
  };
}
