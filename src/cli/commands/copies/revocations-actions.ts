import { resolve } from 'node:path';
import type { Config } from '../../../config/config.js';
import { readValid } from '../../../store/copies/take-copy.js';
import type { Ends } from '../../../store/copies/valid-list.js';
import { say } from '../output/print.js';
import { writeNewFile } from './backup-folder.js';
import { asIso } from './manifest.js';
import { placeOf } from './own-database.js';
import { validFileLines } from './valid-file.js';

export async function revocations(config: Config, file: string): Promise<void> {
  const now = Date.now();
  const { origin, valid } = await readValid(placeOf(config), now);
  const readAt = asIso(now);
  writeNewFile(resolve(file), validFileLines({ ...origin, readAt, valid }));
  const count = (ends: Ends) => Object.keys(ends).length;
  say(
    `Wrote the list of what is valid as of ${readAt}, with ${count(valid.apiKeys)} API keys, ${count(valid.serviceTokens)} tokens and ${count(valid.clientSecrets)} client secrets.`,
  );
}
