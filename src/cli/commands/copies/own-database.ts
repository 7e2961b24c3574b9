import type { Config } from '../../../config/config.js';
import { KeyKeeper } from '../../../keys/key-keeper.js';
import { type EncryptionKey, readSecretsKeys } from '../../../keys/secrets-key.js';
import { derivedKeys } from '../../../keys/subkeys.js';
import type { CopyFacts } from '../../../store/copies/copy-facts.js';
import { type DatabasePlace, type OpenedDatabase, openDatabase } from '../../../store/copies/open-copy.js';
import { asRefused } from '../../../store/store-error.js';
import { secretsKeyFile } from '../../from-config.js';
import { newNodeName } from '../../roles/keeping-keys.js';
import { StartupError } from '../../startup-error.js';

export function placeOf({ DATA_DIR, DATABASE_URL }: Config): DatabasePlace {
  return { dataDir: DATA_DIR, databaseUrl: DATABASE_URL?.reveal() };
}

export async function inDatabase<T>(
  place: DatabasePlace,
  work: (database: OpenedDatabase) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(place);
  try {
    return await work(database);
  } catch (error) {
    throw asRefused(error);
  } finally {
    await database.close();
  }
}

/** The keys of the file, and those of `earlier` that the backup needs. Throws without the newest of them. */
export function keysIn(
  path: string,
  { encryptionKeys, withKey }: Pick<CopyFacts, 'encryptionKeys'> & { withKey?: boolean },
  earlier: readonly EncryptionKey[] = [],
): EncryptionKey[] {
  const present = readSecretsKeys(path);
  const removed = earlier.filter(
    ({ id }) => encryptionKeys.includes(id) && !present.some((key) => key.id === id),
  );
  const keys = [...present, ...removed];
  const missing = encryptionKeys.slice(0, 1).find((id) => !keys.some((key) => key.id === id));
  if (missing !== undefined) {
    const remedy = withKey
      ? `The backup contains its key, sealed with a passphrase. To use it, move ${path} away and repeat the command.`
      : 'Set SECRETS_KEY_FILE to the key file of the backup.';
    throw new StartupError(
      `The backup needs the encryption key ${missing}, and ${path} holds ${present.map(({ id }) => id).join(', ')}. ${remedy}`,
    );
  }
  return keys;
}

export function useOwnKeys(database: OpenedDatabase, config: Config): Promise<void> {
  return useKeys(database, readSecretsKeys(secretsKeyFile(config).path));
}

/** Refuses keys that do not decrypt the database. Later audit records are added to the audit chains. */
export async function useKeys(
  database: Pick<OpenedDatabase, 'chainRecords' | 'seals'>,
  keys: readonly EncryptionKey[],
): Promise<void> {
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
