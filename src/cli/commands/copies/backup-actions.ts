import { join, resolve } from 'node:path';
import type { Config } from '../../../config/config.js';
import { packageVersion } from '../../../config/package.js';
import { sealWithPassphrase } from '../../../keys/passphrase-box.js';
import { keyFileText, readSecretsKeys } from '../../../keys/secrets-key.js';
import type { CopyFacts } from '../../../store/copies/copy-facts.js';
import { recordBackup, refuseToBackUpOtherRelease, takeCopy } from '../../../store/copies/take-copy.js';
import { secretsKeyFile } from '../../from-config.js';
import { stopSignal } from '../../stop-signals.js';
import { Unfinished, UsageError } from '../errors.js';
import { print, say } from '../output/print.js';
import { asJson } from '../output/printable.js';
import { asFacts } from '../output/table.js';
import { StagedFolder } from './backup-folder.js';
import { asIso, FILES, MANIFEST_FORMAT, type Manifest } from './manifest.js';
import { inDatabase, keysIn, placeOf, useOwnKeys } from './own-database.js';
import { newPassphrase } from './passphrase.js';
import { validFileLines } from './valid-file.js';

export interface BackupOptions {
  withKey?: boolean;
  passphraseFile?: string;
  json?: boolean;
}

/** The encryption of the key file is bound to this name. */
export const SEALED_KEY = 'integration-backup/key-file';

export async function backup(config: Config, folder: string, options: BackupOptions): Promise<void> {
  const { withKey = false, passphraseFile, json } = options;
  if (!withKey && passphraseFile !== undefined) {
    throw new UsageError(
      '--passphrase-file needs --with-key: without --with-key the backup does not contain the key.',
    );
  }
  await refuseToBackUpOtherRelease(placeOf(config));
  const sealKeyFile = withKey ? await keyFileSealer(config, passphraseFile) : undefined;
  const manifest = await writeBackup(config, resolve(folder), sealKeyFile);
  print(json ? asJson(manifest) : asText(resolve(folder), manifest));
}

type SealKeyFile = (facts: CopyFacts) => string;

/** Refuses a key file that cannot be read before the command asks for a passphrase. */
async function keyFileSealer(config: Config, passphraseFile: string | undefined): Promise<SealKeyFile> {
  const earlier = readSecretsKeys(secretsKeyFile(config).path);
  const passphrase = await newPassphrase(passphraseFile);
  return (facts) => {
    // Read again after the copy, which may need a key that was added to the file or removed meanwhile.
    const keys = keysIn(secretsKeyFile(config).path, facts, earlier);
    return sealWithPassphrase(Buffer.from(keyFileText(keys)), passphrase, SEALED_KEY);
  };
}

async function writeBackup(
  config: Config,
  target: string,
  sealKeyFile: SealKeyFile | undefined,
): Promise<Manifest> {
  // Listens before the folder exists, so that a signal at any time removes the folder.
  const stop = stopSignal();
  const staged = new StagedFolder(target);
  const onStop = () => {
    staged.discard();
    say('The backup was interrupted, and its files were removed.');
    process.exit(1);
  };
  stop.signal.addEventListener('abort', onStop);
  try {
    await putOnRecord(config, target);
    const begunAt = Date.now();
    const database = config.DATABASE_URL === undefined ? 'sqlite' : 'postgresql';
    const file = join(staged.path, FILES[database]);
    const { facts, valid } = await takeCopy(placeOf(config), file, begunAt, process.env, say);
    const manifest: Manifest = {
      format: MANIFEST_FORMAT,
      ...{ release: packageVersion, database, issuer: config.SIGN_ON_URL, ...facts },
      ...{ begunAt: asIso(begunAt), endedAt: asIso(Date.now()), withKey: sealKeyFile !== undefined },
    };
    if (facts.environment !== config.ENVIRONMENT) {
      throw new Unfinished(
        `The database belongs to the ${facts.environment} environment, but ENVIRONMENT is ${config.ENVIRONMENT}.`,
      );
    }
    staged.write(FILES.manifest, `${JSON.stringify(manifest, null, 2)}\n`);
    staged.write(FILES.valid, validFileLines({ ...facts, readAt: manifest.begunAt, valid }));
    if (sealKeyFile !== undefined) {
      staged.write(FILES.key, sealKeyFile(facts));
    }
    await staged.complete();
    return manifest;
  } finally {
    stop.signal.removeEventListener('abort', onStop);
    staged.discard();
  }
}

/** Before the copy, so that the backup contains the record. A full or read-only disk must not prevent it. */
async function putOnRecord(config: Config, target: string): Promise<void> {
  try {
    await inDatabase(placeOf(config), async (database) => {
      await useOwnKeys(database, config);
      await recordBackup(database, { type: 'command', id: 'backup' }, target);
    });
  } catch (error) {
    say(`The audit log has no record of this backup: ${(error as Error).message}`);
  }
}

function asText(folder: string, manifest: Manifest): string {
  const { begunAt, environment, release, rows, withKey, encryptionKeys } = manifest;
  const sum = Object.values(rows).reduce((total, count) => total + count, 0);
  const keys = encryptionKeys.join(', ') || 'none yet';
  return `The backup is complete and checked.

${asFacts([
  ['Folder', folder],
  ['As of', begunAt],
  ['Database', `${manifest.database}, ${environment}, release ${release}`],
  ['Rows', `${sum} in ${Object.keys(rows).length} tables`],
  ['Encryption key', withKey ? `${keys}, in the backup, encrypted` : `${keys}, not in the backup`],
])}

${
  withKey
    ? 'Store the passphrase separately from the backup: both together decrypt everything.'
    : 'You cannot restore this backup without the encryption key: store a copy of SECRETS_KEY_FILE separately.'
}`;
}
