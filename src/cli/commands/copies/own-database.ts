import type { Config } from '../../../config/config.js';
import type { EncryptionKey } from '../../../keys/encryption-key.js';
import { KeyKeeper } from '../../../keys/key-keeper.js';
import { derivedKeys } from '../../../keys/subkeys.js';
import type { DatabasePlace, OpenedDatabase } from '../../../store/copies/open-copy.js';
import { newNodeName } from '../../roles/keeping-keys.js';

export function placeOf({ DATA_DIR, DATABASE_URL }: Config): DatabasePlace {
  return { dataDir: DATA_DIR, databaseUrl: DATABASE_URL?.reveal() };
}

/** Refuses keys that do not decrypt the database. Later audit records are added to the audit chains. */
export async function useKeys(database: OpenedDatabase, keys: readonly EncryptionKey[]): Promise<void> {
  const silent = () => undefined;
  const keeper = new KeyKeeper({
    seals: database.seals,
    keys,
    readKeys: () => keys,
    node: newNodeName(),
    clock: Date.now,
    log: { info: silent, error: silent },
  });
  const tokenKeys = await keeper.adopt();
  await keeper.leave();
  database.chainRecords(derivedKeys(keeper.ring, tokenKeys).audit);
}
