import fs, {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type BetterSqlite3 from 'better-sqlite3';
import type { InstanceIntegrationId } from '../../../../generated/ids.js';
import { sumsIn } from '../../../../src/cli/commands/copies/backup-folder.js';
import { parseManifest } from '../../../../src/cli/commands/copies/manifest.js';
import { fillPlace } from '../../../../src/cli/commands/copies/restored-place.js';
import { Unfinished } from '../../../../src/cli/commands/errors.js';
import { StartupError } from '../../../../src/cli/startup-error.js';
import { loadConfig } from '../../../../src/config/config.js';
import { createClient } from '../../../../src/domain/platform/organization/clients.js';
import { createInstance } from '../../../../src/domain/platform/organization/instances.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { isStaged, stage, unstage } from '../../../../src/files/staged.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { KeyKeeper } from '../../../../src/keys/key-keeper.js';
import { readSecretsKeys } from '../../../../src/keys/secrets-key.js';
import { derivedKeys } from '../../../../src/keys/subkeys.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { sealStore } from '../../../../src/store/adapters/seals.js';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { settleCopy } from '../../../../src/store/copies/settle-copy.js';
import { openStore } from '../../../../src/store/store.js';
import { StoreError } from '../../../../src/store/store-error.js';
import { mirrorOf } from '../../../support/changes/mirror.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { integration, sharedIntegration } from '../../typed.js';
import { changedBackup, damaged, isUntouched, newLive, restoring, settingsIn, succeeded } from './rig.js';

const PASSPHRASE = 'correct horse battery staple';

const directory = temporaryDirectories();
const shared = temporaryDirectories(afterAll);

describe('integration restore', () => {
  let settings: Record<string, string>;
  let backup: string;
  let passphraseFile: string;

  beforeAll(async () => {
    const folder = shared();
    settings = await newLive(folder);
    backup = join(folder, 'backup');
    passphraseFile = join(folder, 'passphrase');
    writeFileSync(passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 });
    const args = ['backup', backup, '--with-key', '--passphrase-file', passphraseFile];
    await succeeded(sharedIntegration(args, settings));
  });

  /** Settings with an empty data directory and the key file of the environment. */
  const elsewhere = () => ({ ...settings, DATA_DIR: join(directory(), 'data') });
  /** For a machine that has none. */
  const keyFile = () => ({
    path: join(directory(), 'secrets.key'),
    keys: readSecretsKeys(settings.SECRETS_KEY_FILE as string),
    isOfBackup: true,
  });
  const given = () => ({
    folder: backup,
    sums: sumsIn(backup),
    manifest: parseManifest(readFileSync(join(backup, 'manifest.json'), 'utf8')),
  });

  test('of what is no folder is wrong usage, as a missing file is for other commands', async () => {
    const absent = join(directory(), 'absent');
    for (const [given, what] of [
      [absent, `There is no folder ${absent}.`],
      [passphraseFile, `${passphraseFile} is not a folder.`],
    ] as const) {
      const { code, stdout, stderr } = await integration(['restore', given], elsewhere());
      expect([code, stdout, stderr]).toEqual([2, '', `${what}\n`]);
    }
  });

  test('brings the key back with the passphrase, and suspends what may have been revoked', async () => {
    const into = settingsIn(directory());
    const stdout = await succeeded(
      integration(['restore', backup, '--passphrase-file', passphraseFile, '--json'], into),
    );
    const report = JSON.parse(stdout);
    expect(report.suspended).toMatchObject([{ kind: 'service_token', label: 'First operator' }]);
    expect(readFileSync(into.SECRETS_KEY_FILE as string, 'utf8')).toBe(
      readFileSync(settings.SECRETS_KEY_FILE as string, 'utf8'),
    );
    expect(statSync(into.SECRETS_KEY_FILE as string).mode & 0o777).toBe(0o600);

    const { id } = report.suspended[0];
    expect(await succeeded(integration(['resume'], into))).toMatch(new RegExp(`^service_token  ${id} `, 'm'));
    const unknown = await integration(['resume', id, 'tok_none'], into);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      'No restore has suspended tok_none. `integration resume` lists what is suspended. Nothing was changed.\n',
    ]);
    expect(await succeeded(integration(['resume', id], into))).toBe(`Resumed: ${id}\n`);
    expect(await succeeded(integration(['resume'], into))).toBe('Nothing is suspended.\n');
  });

  test('restores nothing with another passphrase', async () => {
    const folder = directory();
    const other = join(folder, 'other');
    writeFileSync(other, 'incorrect horse battery staple\n', { mode: 0o600 });
    const into = settingsIn(folder);
    await expect(restoring(backup, into, { passphraseFile: other })).rejects.toEqual(
      new Unfinished('The passphrase is wrong for the key in the backup. Nothing was restored.'),
    );
    expect(readdirSync(folder)).toEqual(['other']);
  });

  test('refuses the key file of another environment, and says that the backup has its key', async () => {
    const folder = directory();
    const another = await newLive(folder);
    const into = { ...another, DATA_DIR: join(folder, 'restored') };
    await expect(restoring(backup, into, { passphraseFile })).rejects.toThrow(
      /^The backup needs the encryption key ek_\w+, and .*secrets\.key holds ek_\w+\. The backup contains its key, .*move .*secrets\.key away and repeat the command\.$/,
    );
    expect(isUntouched(into)).toBe(true);
    const args = ['restore', backup, '--passphrase-file', passphraseFile];
    renameSync(another.SECRETS_KEY_FILE as string, join(folder, 'moved.key'));
    await succeeded(sharedIntegration(args, into));
  });

  test.each(['integration.db', 'manifest.json'])('notices a changed byte of %s', async (name) => {
    const changed = changedBackup(backup, join(directory(), 'changed'), name, damaged);
    const into = elsewhere();
    await expect(restoring(changed, into)).rejects.toThrow(
      `The backup is damaged: ${name} does not match its checksum`,
    );
    expect(isUntouched(into)).toBe(true);
  });

  test('says which file of the backup cannot be copied', async () => {
    const changed = changedBackup(backup, join(directory(), 'changed'), '', damaged);
    rmSync(join(changed, 'integration.db'));
    const into = elsewhere();
    const { code, stderr } = await sharedIntegration(['restore', changed], into);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ENOENT: .*\/changed\/integration\.db'.*\n$/);
    expect(isUntouched(into)).toBe(true);
  });

  test('notices a changed byte of the sealed key', async () => {
    const changed = changedBackup(backup, join(directory(), 'changed'), 'secrets.key.sealed', damaged);
    await expect(restoring(changed, settingsIn(directory()), { passphraseFile })).rejects.toThrow(
      'The backup is damaged: secrets.key.sealed does not match its checksum',
    );
  });

  test('notices damage that was there before the checksums', async () => {
    const torn = (content: Buffer) => {
      const changed = Buffer.from(content);
      return changed.fill(0xff, 8_192, 12_288);
    };
    const target = join(directory(), 'changed');
    const changed = changedBackup(backup, target, 'integration.db', torn, { summed: true });
    const into = elsewhere();
    await expect(restoring(changed, into)).rejects.toThrow(/^The database in .*integration\.db is damaged: /);
    expect(isUntouched(into)).toBe(true);
  });

  test.each<[string, (manifest: Record<string, unknown>) => object, new (m: string) => Error, RegExp]>([
    [
      'a newer schema',
      ({ migrations }) => ({ release: '9.0.0', migrations: [...(migrations as string[]), '9999-later'] }),
      StartupError,
      /^The backup is of a database that a newer release has migrated \(it has 9999-later\)\. Restore it with that release\.$/,
    ],
    [
      'another environment',
      () => ({ environment: 'demo' }),
      StartupError,
      /^The backup belongs to the demo environment, but ENVIRONMENT is live\.$/,
    ],
    [
      'another kind of database',
      () => ({ database: 'postgresql' }),
      StartupError,
      /^The backup is of a PostgreSQL database\. Set DATABASE_URL to an empty database\.$/,
    ],
    [
      'other counts of rows than its manifest says',
      ({ rows }) => ({ rows: { ...(rows as object), accounts: 7 } }),
      Unfinished,
      /^The backup is damaged: the table accounts has 0 rows, but the manifest says 7\.$/,
    ],
    [
      'another database than that of its manifest',
      () => ({ environmentMadeAt: 1 }),
      Unfinished,
      /^The backup is damaged: its database does not match its manifest\.$/,
    ],
    [
      'no time of its newest change',
      () => ({ changedAt: undefined }),
      Unfinished,
      /manifest\.json is incomplete: changedAt is missing or has another form than `integration backup` writes\.$/,
    ],
    [
      'another newest change than its manifest says',
      () => ({ changedAt: 1 }),
      Unfinished,
      /^The backup is damaged: its database does not match its manifest\.$/,
    ],
    [
      'a later format',
      () => ({ format: 'integration-backup/2' }),
      Unfinished,
      /manifest\.json does not have the format integration-backup\/1: /,
    ],
  ])('refuses a backup with %s', async (_, change, kind, message) => {
    const manifest = (content: Buffer) => {
      const present = JSON.parse(content.toString());
      return JSON.stringify({ ...present, ...change(present) });
    };
    const target = join(directory(), 'changed');
    const changed = changedBackup(backup, target, 'manifest.json', manifest, { summed: true });
    const into = elsewhere();
    const refusal = await restoring(changed, into).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(kind);
    expect((refusal as Error).message).toMatch(message);
    expect(isUntouched(into)).toBe(true);
  });

  test('fills a directory that has the key file and the folder of sockets only', async () => {
    const into = elsewhere();
    mkdirSync(into.DATA_DIR);
    const SECRETS_KEY_FILE = join(into.DATA_DIR, 'secrets.key');
    copyFileSync(settings.SECRETS_KEY_FILE as string, SECRETS_KEY_FILE);
    // Left by a service that did not start.
    mkdirSync(join(into.DATA_DIR, 'run'));
    // Left by killed changes of the key file, now and by earlier builds.
    const earlier = ['secrets.key.0123456789abcdef', 'secrets.key.partial-0123456789abcdef'];
    const staged = stage(SECRETS_KEY_FILE);
    for (const left of [staged, ...earlier.map((name) => join(into.DATA_DIR, name))]) {
      copyFileSync(SECRETS_KEY_FILE, left);
    }
    await succeeded(sharedIntegration(['restore', backup], { ...into, SECRETS_KEY_FILE }));
    expect(
      readdirSync(into.DATA_DIR)
        .filter((name) => !isStaged(name))
        .sort(),
    ).toEqual([...['domain.lock', 'integration.db', 'run', 'secrets.key', ...earlier]]);
    unstage(staged);
  });

  test('makes no key file where it restores nothing', async () => {
    const folder = directory();
    const into = settingsIn(folder);
    mkdirSync(into.DATA_DIR as string);
    writeFileSync(join(into.DATA_DIR as string, 'mine'), '');
    // The command does not even ask for the passphrase.
    await expect(restoring(backup, into)).rejects.toThrow('is not empty: it contains mine');
    const damage = changedBackup(backup, join(folder, 'changed'), 'integration.db', damaged);
    const empty = { ...into, DATA_DIR: join(folder, 'empty') };
    await expect(restoring(damage, empty, { passphraseFile })).rejects.toThrow('The backup is damaged');
    expect(existsSync(into.SECRETS_KEY_FILE as string)).toBe(false);
    // Without the folder, a service that a supervisor starts again would create an empty database.
    expect(readdirSync(empty.DATA_DIR).sort()).toEqual(['domain.lock', 'restoring']);
    expect(readdirSync(join(empty.DATA_DIR, 'restoring'))).toEqual([]);
  });

  test('removes the key file that it made if the database cannot get its name', async () => {
    const into = settingsIn(directory());
    // The folder of the key file takes the name.
    const SECRETS_KEY_FILE = join(into.DATA_DIR as string, 'integration.db/secrets.key');
    const restored = restoring(backup, { ...into, SECRETS_KEY_FILE }, { passphraseFile });
    await expect(restored).rejects.toThrow(
      /integration\.db was created during the restore, by another process\. Nothing was restored\.$/,
    );
    expect(readdirSync(join(into.DATA_DIR as string, 'integration.db'))).toEqual([]);
  });

  test('refuses a directory with anything in it, and leaves it as it is', async () => {
    const into = elsewhere();
    mkdirSync(into.DATA_DIR);
    writeFileSync(join(into.DATA_DIR, 'integration.db'), 'mine');
    const { code, stdout, stderr } = await sharedIntegration(['restore', backup], into);
    expect([code, stdout]).toEqual([78, '']);
    expect(stderr).toBe(
      `The directory ${into.DATA_DIR} is not empty: it contains integration.db. Set DATA_DIR to another directory, or move this one away.\n`,
    );
    expect(readdirSync(into.DATA_DIR)).toEqual(['integration.db']);
    expect(readFileSync(join(into.DATA_DIR, 'integration.db'), 'utf8')).toBe('mine');
  });

  test('begins anew where one was interrupted and no service starts, and not where another runs', async () => {
    const into = elsewhere();
    mkdirSync(join(into.DATA_DIR, 'restoring'), { recursive: true });
    writeFileSync(join(into.DATA_DIR, 'restoring/integration.db'), 'half a database');
    await expect(openStore({ environment: 'live', dataDir: into.DATA_DIR, alone: true })).rejects.toEqual(
      new StoreError(
        `A restore into ${into.DATA_DIR} is not complete. If none is running, run \`integration restore\` again; it starts from the beginning. To begin without a backup, delete the folder restoring and, in live, run \`integration init\`.`,
      ),
    );
    for (const args of [['backup', join(into.DATA_DIR, 'b')], ['revocations', 'r'], ['resume']]) {
      const { code, stdout, stderr } = await sharedIntegration(args, into);
      expect([args, code, stdout, stderr]).toEqual([
        ...[args, 78, ''],
        expect.stringMatching(/^A restore into .* is not complete\. /),
      ]);
    }
    expect((await sharedIntegration(['doctor'], into)).stdout).toMatch(
      /^ +- A restore into .* is not complete\. /m,
    );
    expect(isUntouched(into)).toBe(true);
    const other = new Sqlite(join(into.DATA_DIR, 'domain.lock'));
    other.exec('begin exclusive');
    await expect(restoring(backup, into)).rejects.toThrow(/^Another domain already runs on /);
    const made = await integration(['init'], into);
    expect([made.code, made.stderr]).toEqual([78, expect.stringMatching(/^Another domain already runs on /)]);
    other.close();
    await succeeded(sharedIntegration(['restore', backup], into));
    expect(readdirSync(into.DATA_DIR).sort()).toEqual(['domain.lock', 'integration.db']);
  });

  test('refuses a backup with a foreign trigger, names it, and leaves nothing', async () => {
    const planted = changedBackup(
      backup,
      join(directory(), 'planted'),
      'integration.db',
      (content) => {
        const file = join(directory(), 'copy.db');
        writeFileSync(file, content);
        const database = new Sqlite(file);
        database.exec('create trigger keep before update on service_tokens begin select raise(ignore); end');
        database.close();
        return readFileSync(file);
      },
      { summed: true },
    );
    const into = elsewhere();
    const { code, stdout, stderr } = await sharedIntegration(['restore', planted], into);
    expect([code, stdout, stderr]).toEqual([
      ...[1, ''],
      expect.stringMatching(
        /^The backup has the trigger keep of service_tokens, which this service did not make: [^\n]+\n$/,
      ),
    ]);
    expect(readdirSync(into.DATA_DIR).sort()).toEqual(['domain.lock', 'restoring']);
    expect(readdirSync(join(into.DATA_DIR, 'restoring'))).toEqual([]);
    await succeeded(sharedIntegration(['restore', backup], into));
  });

  test('gives the database no name while a part of it is in a log beside it', async () => {
    const into = elsewhere();
    const keys = keyFile();
    let holder: BetterSqlite3.Database | undefined;
    const restored = fillPlace(loadConfig(into), given(), keys, async (database, at) => {
      // As on a full disk, the write-ahead log cannot be checkpointed: closing the database reports no error.
      holder = new Sqlite(join(into.DATA_DIR, 'restoring/integration.db'), { readonly: true });
      holder.exec('begin');
      holder.prepare('select * from accounts').all();
      return settleCopy(database, {
        ...{ at, valid: undefined, attributes: {} },
        ...{ keepSessions: false, keepKeys: false, sendWebhooks: false },
      });
    });
    await expect(restored).rejects.toThrow(
      /^The database in .*restoring\/integration\.db could not be processed: /,
    );
    holder?.close();
    expect([isUntouched(into), existsSync(keys.path)]).toEqual([true, false]);
  });

  test('keeps the key file when the database has its name and the rest fails', async () => {
    const into = elsewhere();
    const keys = keyFile();
    const remove = fs.rmSync;
    jest.spyOn(fs, 'rmSync').mockImplementation((path, options) => {
      if (!isUntouched(into) && path !== keys.path) {
        throw Object.assign(new Error('EIO: i/o error, rm'), { code: 'EIO' });
      }
      remove(path, options);
    });
    syncBuiltinESMExports();
    try {
      const restored = fillPlace(loadConfig(into), given(), keys, (database, at) =>
        settleCopy(database, {
          ...{ at, valid: undefined, attributes: {} },
          ...{ keepSessions: false, keepKeys: false, sendWebhooks: false },
        }),
      );
      await expect(restored).rejects.toThrow('EIO');
    } finally {
      jest.restoreAllMocks();
      syncBuiltinESMExports();
    }
    expect(existsSync(keys.path)).toBe(true);
  });

  test('does not give the database its name without the audit record of the restore', async () => {
    const into = elsewhere();
    const keys = keyFile();
    await expect(fillPlace(loadConfig(into), given(), keys, async () => undefined)).rejects.toThrow(
      'lacks the audit record of its restore',
    );
    expect([isUntouched(into), existsSync(keys.path)]).toEqual([true, false]);
  });
});

describe('after `integration restore`', () => {
  const under = databaseUnderTest('SQLite');

  async function opened({ DATA_DIR = '', SECRETS_KEY_FILE = '' }) {
    const database = await under.open({ dataDir: DATA_DIR });
    const keys = readSecretsKeys(SECRETS_KEY_FILE);
    const log = { info: jest.fn(), error: jest.fn() };
    const keeper = new KeyKeeper({
      ...{ seals: sealStore(database), keys, readKeys: () => keys, node: 'a', clock: Date.now, log },
    });
    const { changeCursors: cursors } = derivedKeys(keeper.ring, await keeper.adopt());
    return {
      platform: platformUnitOfWork(database),
      readerOf: (instanceId: string, owner: InstanceIntegrationId) =>
        mirrorOf(database, instanceId, owner, cursors),
    };
  }

  test('a cursor stays valid if the backup has everything that its reader has read, and otherwise expires', async () => {
    const folder = directory();
    const settings = await newLive(folder);
    const live = await opened(settings);
    const { id: instanceId } = await live.platform.run((changes) =>
      createInstance(changes, { name: 'Harborlight' }),
    );
    const makeClient = ({ platform }: typeof live, name: string) =>
      platform.run((changes) => createClient(changes, { instanceId, name }));
    const owner = newPublicId('InstanceIntegrationId');
    const reader = live.readerOf(instanceId, owner);
    await makeClient(live, 'Kept');
    await reader.follow();
    const before = reader.cursor;
    const backup = join(folder, 'backup');
    await succeeded(sharedIntegration(['backup', backup], settings));
    await makeClient(live, 'Lost');
    await reader.follow();
    const after = reader.cursor;

    const into = { ...settings, DATA_DIR: join(folder, 'restored') };
    await succeeded(sharedIntegration(['restore', backup], into));
    const restored = await opened(into);
    // The first takes the position of the lost one.
    await makeClient(restored, 'New');
    await makeClient(restored, 'Newer');
    const same = restored.readerOf(instanceId, owner);
    const namesFrom = async (cursor: string | undefined) => {
      same.goOnFrom(cursor);
      const told = await same.follow();
      return told.flatMap(({ resource }) => (resource as { name?: string }).name ?? []);
    };
    await expect(namesFrom(before)).resolves.toEqual(['New', 'Newer']);
    await expect(namesFrom(after)).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
    await expect(namesFrom(undefined)).resolves.toEqual(['Kept', 'New', 'Newer']);
  });
});
