import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config/config.js';

/** SECRETS_KEY_FILE, or the place where the first releases put the file, with a warning about that. */
export function secretsKeyFile({ DATA_DIR, SECRETS_KEY_FILE: path }: Config): {
  path: string;
  warning?: string;
} {
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
