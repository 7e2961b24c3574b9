import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../../../config/config.js';
import { openWithPassphrase } from '../../../keys/passphrase-box.js';
import { SealError } from '../../../keys/sealed-box.js';
import { type EncryptionKey, parseKeyFile } from '../../../keys/secrets-key.js';
import { refuseForeignTriggers } from '../../../store/checks/foreign-objects.js';
import { latestChange, type Origin, originOf } from '../../../store/copies/copy-facts.js';
import { type Settled, type Settling, settleCopy } from '../../../store/copies/settle-copy.js';
import type { Reader } from '../../../store/database.js';
import { unknownMigrations } from '../../../store/migrate.js';
import { secretsKeyFile } from '../../from-config.js';
import { StartupError } from '../../startup-error.js';
import { Unfinished, UsageError } from '../errors.js';
import { linesOfFile } from '../file-lines.js';
import { print, say } from '../output/print.js';
import { asJson } from '../output/printable.js';
import { SEALED_KEY } from './backup-actions.js';
import { assertSum, hasSum, sumsIn } from './backup-folder.js';
import { asIso, FILES, type Manifest, parseManifest } from './manifest.js';
import { keysIn, useKeys } from './own-database.js';
import { presentPassphrase } from './passphrase.js';
import { reportOf } from './restore-report.js';
import { fillPlace, type KeyFile, refuseFullPlace } from './restored-place.js';
import { parseValidFile, type ValidFile } from './valid-file.js';

export interface RestoreOptions {
  revocations?: string;
  passphraseFile?: string;
  keepSessions?: boolean;
  keepKeys?: boolean;
  sendWebhooks?: boolean;
  json?: boolean;
}

/** Of a list. Lines of applications are the longest: they have all redirect URIs. */
const MOST_LINE_BYTES = 64 * 1_024 * 1_024;
/** Keys may have been revoked after an older list was made: `restore` suspends them. */
const RECENT_MS = 3_600_000;

export async function restore(config: Config, given: string, options: RestoreOptions): Promise<void> {
  const folder = resolve(given);
  const sums = sumsIn(folder);
  const manifest = await manifestIn(folder, sums);
  refuseOtherPlace(manifest, config);
  const list = options.revocations === undefined ? undefined : await listIn(options.revocations, manifest);
  if (manifest.issuer !== config.SIGN_ON_URL) {
    say(
      `The issuer of the backup is ${manifest.issuer}, but SIGN_ON_URL is ${config.SIGN_ON_URL}: applications accept tokens of only one of them. To start with it, set PREVIOUS_SIGN_ON_URL=${manifest.issuer}.`,
    );
  }
  await refuseFullPlace(config, secretsKeyFile(config).path);
  const keyFile = await keysOf(config, folder, manifest, sums, options.passphraseFile);
  const settling = settlingOf(manifest, list, options);
  const settled = await fillPlace(config, { folder, manifest, sums }, keyFile, async (database, at) => {
    await refuseForeignTriggers(database.reader);
    await refuseSameContent(options.revocations, list, database.reader);
    await useKeys(database, keyFile.keys);
    return settleCopy(database, { at, ...settling });
  });
  const knownUntil = asIso((list ?? manifest).changedAt);
  const report = { restored: manifest.begunAt, revocations: list?.readAt ?? null, knownUntil, ...settled };
  print(options.json ? asJson(report) : reportOf(report, options, config));
}

export interface Report extends Settled {
  restored: string;
  /** When the list was made. */
  revocations: string | null;
  /** The time of the newest change in the list or, without one, in the backup. */
  knownUntil: string;
}

function settlingOf(
  manifest: Manifest,
  list: ValidFile | undefined,
  options: RestoreOptions,
): Omit<Settling, 'at'> {
  const { keepSessions = false, keepKeys = false, sendWebhooks = false } = options;
  // If the list is from the future, a clock is wrong, and the age of the list is unknown.
  const isRecent = list !== undefined && Math.abs(Date.now() - Date.parse(list.readAt)) <= RECENT_MS;
  return {
    ...{ valid: list?.valid, keepSessions, keepKeys: keepKeys || isRecent, sendWebhooks },
    attributes: {
      ...{ backup_of: manifest.begunAt, backup_release: manifest.release },
      revocations_of: list?.readAt ?? 'unknown',
      kept: [keepSessions && 'sessions', keepKeys && 'keys', sendWebhooks && 'webhooks']
        .filter(Boolean)
        .join(' '),
    },
  };
}

async function manifestIn(folder: string, sums: ReadonlyMap<string, string>): Promise<Manifest> {
  const file = join(folder, FILES.manifest);
  await assertSum(sums, FILES.manifest, file);
  return reading(file, () => parseManifest(readFileSync(file, 'utf8')));
}

function refuseOtherPlace(manifest: Manifest, config: Config): void {
  const unknown = unknownMigrations(manifest.migrations);
  if (unknown.length > 0) {
    throw new StartupError(
      `The backup is of a database that a newer release has migrated (it has ${unknown.join(', ')}). Restore it with that release.`,
    );
  }
  if (manifest.environment !== config.ENVIRONMENT) {
    throw new StartupError(
      `The backup belongs to the ${manifest.environment} environment, but ENVIRONMENT is ${config.ENVIRONMENT}.`,
    );
  }
  if ((manifest.database === 'postgresql') !== (config.DATABASE_URL !== undefined)) {
    throw new StartupError(
      manifest.database === 'postgresql'
        ? 'The backup is of a PostgreSQL database. Set DATABASE_URL to an empty database.'
        : 'The backup is of a SQLite database. Unset DATABASE_URL, and set DATA_DIR to an empty directory.',
    );
  }
}

/**
 * Compares what the list and the backup contain, not when they were read: a list of the copy that was
 * backed up ends nothing, and an older list would end items that were issued before the backup.
 */
async function listIn(file: string, manifest: Manifest): Promise<ValidFile> {
  const lines = linesOfFile(resolve(file), MOST_LINE_BYTES);
  const list = await reading(file, () => parseValidFile(lines));
  await refuseDamaged(resolve(file));
  if (list.environment !== manifest.environment || list.environmentMadeAt !== manifest.environmentMadeAt) {
    throw new UsageError(`The list ${file} was made from another database than the backup.`);
  }
  // A newest change of the backup that is ahead even now says nothing: its clock was wrong.
  if (manifest.changedAt <= latestChange(Math.max(Date.parse(list.readAt), Date.now()))) {
    refuseUnlessNewer(file, list, manifest);
  }
  return list;
}

/** Compares a list in the folder of a backup with its checksum. Other lists have none. */
async function refuseDamaged(list: string): Promise<void> {
  const folder = dirname(list);
  if (basename(list) !== FILES.valid || !existsSync(join(folder, FILES.sums))) {
    return;
  }
  if (!(await hasSum(sumsIn(folder), FILES.valid, list))) {
    throw new Unfinished(
      `The list ${list} is damaged: it does not match its checksum in ${FILES.sums}. Use the list of another backup.`,
    );
  }
}

/** Compares again, now up to the latest time that counts for the list: either clock may have been wrong. */
async function refuseSameContent(file: string | undefined, list: ValidFile | undefined, reader: Reader) {
  if (file !== undefined && list) {
    refuseUnlessNewer(file, list, await originOf(reader, latestChange(Date.parse(list.readAt))));
  }
}

function refuseUnlessNewer(file: string, list: ValidFile, { changedAt }: Pick<Origin, 'changedAt'>): void {
  if (list.changedAt <= changedAt) {
    throw new UsageError(
      `The list ${file} does not show what was revoked since the backup: its newest change is of ${asIso(list.changedAt)}, that of the backup of ${asIso(changedAt)}. Make the list from the damaged database or the latest recovery, never from the copy that you back up. If you know that nothing has changed since, use --keep-keys instead of a list.`,
    );
  }
}

/** The keys of SECRETS_KEY_FILE or, if it is missing, those of the backup. */
async function keysOf(
  config: Config,
  folder: string,
  manifest: Manifest,
  sums: ReadonlyMap<string, string>,
  passphraseFile: string | undefined,
): Promise<KeyFile> {
  const { path } = secretsKeyFile(config);
  if (existsSync(path) || !manifest.withKey) {
    return { path, keys: keysIn(path, manifest), isOfBackup: false };
  }
  const file = join(folder, FILES.key);
  await assertSum(sums, FILES.key, file);
  const keys = unsealed(readFileSync(file, 'utf8'), await presentPassphrase(passphraseFile));
  return { path, keys, isOfBackup: true };
}

function unsealed(text: string, passphrase: string): EncryptionKey[] {
  try {
    return parseKeyFile(openWithPassphrase(text, passphrase, SEALED_KEY));
  } catch (error) {
    throw new Unfinished(
      error instanceof SealError
        ? 'The passphrase is wrong for the key in the backup. Nothing was restored.'
        : `The key file in the backup ${(error as Error).message}`,
    );
  }
}

async function reading<T>(file: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof UsageError
      ? error
      : new Unfinished(`The file ${resolve(file)} ${(error as Error).message}`);
  }
}
