import type { Migration } from 'kysely';
import * as directoryRoots from './0001-directory-roots.js';

/** In the order of their names. A migration that a release carried is never edited. */
export const migrations: Record<string, Migration> = {
  '0001-directory-roots': directoryRoots,
};
