import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../../config/config.js';
import { makeFolder, sync, syncFolder } from '../../../files/folders.js';
import { isStaged, removeLeft } from '../../../files/staged.js';
import { type EncryptionKey, placeSecretsKeys } from '../../../keys/secrets-key.js';
import { factsOf } from '../../../store/copies/copy-facts.js';
import type { OpenedDatabase } from '../../../store/copies/open-copy.js';
import {
  markEmptyPostgres,
  refuseFullPostgres,
  undumpPostgres,
  unmarkPostgres,
} from '../../../store/copies/postgres-copy.js';
import { asOneFile, assertSettled, assertSound } from '../../../store/copies/sqlite-copy.js';
import { DATABASE_FILE, RESTORE_STAGE } from '../../../store/data-directory.js';
import type { Reader } from '../../../store/database.js';
import { claimDirectory } from '../../../store/file-lock.js';
import { migrateToLatest } from '../../../store/migrate.js';
import { reading } from '../../../store/recorded.js';
import { StartupError } from '../../startup-error.js';
import { Unfinished } from '../errors.js';
import { assertSum } from './backup-folder.js';
import { FILES, type Manifest } from './manifest.js';
import { inDatabase, keysIn } from './own-database.js';

interface Backup {
  folder: string;
  manifest: Manifest;
  sums: ReadonlyMap<string, string>;
}

/** `at` is the time of the restore, by the clock that the service uses. Its audit record has the same. */
type Settle<T> = (database: OpenedDatabase, at: number) => Promise<T>;

export interface KeyFile {
  path: string;
  keys: readonly EncryptionKey[];
  /** Whether the keys come from the backup: the restore then writes them to the file, unless it exists. */
  isOfBackup: boolean;
}

/** Left by an interrupted restore or a service that did not start, or made by the file system. */
const NO_CONTENT = new Set([RESTORE_STAGE, 'domain.lock', 'domain.lock-journal', 'run', 'lost+found']);

/** Restores into the empty target. The last steps write the key file and complete the database. */
export function fillPlace<T>(config: Config, backup: Backup, keys: KeyFile, settle: Settle<T>): Promise<T> {
  return config.DATABASE_URL === undefined
    ? fillDirectory(config, backup, keys, settle)
    : fillPostgres(config.DATA_DIR, config.DATABASE_URL.reveal(), backup, keys, settle);
}

async function fillDirectory<T>(
  config: Config,
  { folder, manifest, sums }: Backup,
  keys: KeyFile,
  settle: Settle<T>,
): Promise<T> {
  const { DATA_DIR: dataDir } = config;
  makeFolder(dataDir);
  const claim = claimDirectory(dataDir);
  const stage = join(dataDir, RESTORE_STAGE);
  try {
    // Checked again under the claim: another restore may have completed in the meantime.
    refuseFullDirectory(dataDir, keys.path);
    removeLeft('files', dataDir);
    mkdirSync(stage, { recursive: true, mode: 0o700 });
    emptyStage(stage);
    const file = join(stage, DATABASE_FILE);
    copyFileSync(join(folder, FILES.sqlite), file);
    chmodSync(file, 0o600);
    await assertSum(sums, FILES.sqlite, file);
    assertSound(file);
    await reading({ file }, (reader) => assertSame(manifest, reader));
    const { at, settled } = await inDatabase({ dataDir: stage }, async (database) => {
      await migrateToLatest(database.patient);
      const at = database.clock();
      return { at, settled: await settle(database, at) };
    });
    asOneFile(file);
    assertSound(file);
    assertSettled(file, at);
    sync(file);
    placing(keys, manifest, () => giveName(file, join(dataDir, DATABASE_FILE)));
    syncFolder(dataDir);
    rmSync(stage, { recursive: true });
    return settled;
  } catch (error) {
    emptyStage(stage);
    throw error;
  } finally {
    claim.release();
  }
}

/** The folder itself stays: without it, `init`, or a demo that restarts, would make an empty database. */
function emptyStage(stage: string): void {
  for (const name of existsSync(stage) ? readdirSync(stage) : []) {
    rmSync(join(stage, name), { recursive: true, force: true });
  }
}

/** Unlike a rename, a link replaces no database that another process has created. */
function giveName(file: string, target: string): void {
  try {
    linkSync(file, target);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? new StartupError(
          `${target} was created during the restore, by another process. Nothing was restored.`,
        )
      : error;
  }
}

async function fillPostgres<T>(
  dataDir: string,
  databaseUrl: string,
  { folder, manifest, sums }: Backup,
  keys: KeyFile,
  settle: Settle<T>,
): Promise<T> {
  const file = join(folder, FILES.postgresql);
  await assertSum(sums, FILES.postgresql, file);
  return inDatabase({ dataDir, databaseUrl }, async (database) => {
    await markEmptyPostgres(database.patient);
    await undumpPostgres(databaseUrl, file, process.env);
    await assertSame(manifest, database.reader);
    await migrateToLatest(database.patient);
    const settled = await settle(database, database.clock());
    placing(keys, manifest, () => undefined);
    // Keeps the key file if this fails: the server may have completed the restore without an answer.
    await unmarkPostgres(database.patient);
    return settled;
  });
}

/** A restore that fails leaves no key on a machine that had none. */
function placing({ path, keys, isOfBackup }: KeyFile, manifest: Manifest, complete: () => void): void {
  const isMade = isOfBackup && placeSecretsKeys(path, keys);
  try {
    if (isOfBackup) {
      keysIn(path, manifest);
    }
    complete();
  } catch (error) {
    if (isMade) {
      rmSync(path);
    }
    throw error;
  }
}

/** Refuses a target with content before the command asks for a passphrase. */
export async function refuseFullPlace({ DATA_DIR, DATABASE_URL }: Config, keyFile: string): Promise<void> {
  if (DATABASE_URL !== undefined) {
    await refuseFullPostgres(DATABASE_URL.reveal());
  } else if (existsSync(DATA_DIR)) {
    refuseFullDirectory(DATA_DIR, keyFile);
  }
}

/** The key file may be in the directory, where the first releases put it. */
function refuseFullDirectory(dataDir: string, keyFile: string): void {
  const [key = ''] = relative(dataDir, keyFile).split(sep);
  const content = readdirSync(dataDir).filter(
    (name) => !NO_CONTENT.has(name) && name !== key && !isOfKeyChange(name, key) && !isStaged(name),
  );
  if (content.length > 0) {
    throw new StartupError(
      `The directory ${dataDir} is not empty: it contains ${content.slice(0, 3).join(', ')}. Set DATA_DIR to another directory, or move this one away.`,
    );
  }
}

/** The lock of changes of the key file, and what killed changes of earlier builds left. */
function isOfKeyChange(name: string, key: string): boolean {
  return name.startsWith(key) && /^\.(lock.*|(partial-)?[0-9a-f]{16})$/.test(name.slice(key.length));
}

async function assertSame(manifest: Manifest, reader: Reader): Promise<void> {
  const { environmentMadeAt, changedAt, migrations, rows } = manifest;
  const found = await factsOf(reader, changedAt);
  const tables = [...new Set([...Object.keys(rows), ...Object.keys(found.rows)])];
  const other = tables.find((table) => rows[table] !== found.rows[table]);
  if (other !== undefined) {
    throw new Unfinished(
      `The backup is damaged: the table ${other} has ${found.rows[other] ?? 'no'} rows, but the manifest says ${rows[other] ?? 'none'}.`,
    );
  }
  if (
    found.environmentMadeAt !== environmentMadeAt ||
    found.changedAt !== changedAt ||
    !isDeepStrictEqual([...found.migrations].sort(), [...migrations].sort())
  ) {
    throw new Unfinished('The backup is damaged: its database does not match its manifest.');
  }
}
