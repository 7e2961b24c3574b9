import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Manifest } from '../../../../src/cli/commands/copies/manifest.js';
import { restore } from '../../../../src/cli/commands/copies/restore-actions.js';
import { loadConfig } from '../../../../src/config/config.js';
import { stage } from '../../../../src/files/staged.js';
import { makeSecretsKeys, readSecretsKeys, replaceSecretsKeys } from '../../../../src/keys/secrets-key.js';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { eventually } from '../../../support/eventually.js';
import { startScript } from '../../../support/run-script.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { integration, type RunningCommand, runningCommands, sharedIntegration } from '../../typed.js';
import { newLive, settingsIn, succeeded } from './rig.js';

const WRITER = 'test/store/dialects/endless-writer.child.ts';
const WRITES_BEFORE = 200;

const directory = temporaryDirectories();
const modeOf = (path: string) => statSync(path).mode & 0o777;

function idsIn(file: string, sql: string): unknown[] {
  const database = new Sqlite(file, { readonly: true });
  try {
    return database.prepare(sql).pluck().all();
  } finally {
    database.close();
  }
}

describe('integration backup', () => {
  test('under writes has every write that was acknowledged before it began, and is restored whole and on record', async () => {
    const folder = directory();
    const settings = await newLive(folder);
    // Creates the key of the audit log, which the writer needs for its records.
    await succeeded(integration(['backup', join(folder, 'backups/zeroth')], settings));
    const writer = startScript(WRITER, [settings.DATA_DIR as string, 'written']);
    const ended = once(writer, 'exit');
    const acknowledged: string[] = [];
    let before: string[] = [];
    const target = join(folder, 'backups/first');
    try {
      const lines = createInterface({ input: writer.stdout });
      const enough = new Promise<void>((resolve) =>
        lines.on('line', (line) => {
          if (acknowledged.push(line) === WRITES_BEFORE) {
            resolve();
          }
        }),
      );
      await enough;
      before = [...acknowledged];
      const made = JSON.parse(await succeeded(integration(['backup', target, '--json'], settings)));
      expect(made).toMatchObject({ database: 'sqlite', environment: 'live', withKey: false });
      expect(made.rows.instances).toBeGreaterThanOrEqual(before.length);
      expect(made.encryptionKeys).toEqual([expect.stringMatching(/^ek_/)]);
    } finally {
      writer.kill('SIGKILL');
    }
    await ended;
    expect(acknowledged.length).toBeGreaterThan(before.length);
    expect(readdirSync(target).sort()).toEqual([
      ...['SHA256SUMS', 'integration.db', 'manifest.json', 'valid.jsonl'],
    ]);
    expect(modeOf(target)).toBe(0o700);
    expect(new Set(readdirSync(target).map((name) => modeOf(join(target, name))))).toEqual(new Set([0o600]));

    const other = { ...settings, DATA_DIR: join(folder, 'restored') };
    await succeeded(integration(['restore', target], other));
    expect(readdirSync(other.DATA_DIR).sort()).toEqual(['domain.lock', 'integration.db']);
    const file = join(other.DATA_DIR, 'integration.db');
    expect(new Set(idsIn(file, 'select id from instances'))).toEqual(
      new Set([...idsIn(join(target, 'integration.db'), 'select id from instances'), ...before]),
    );
    expect(
      idsIn(file, "select type from audit_events where type like 'database.%' order by created_at"),
    ).toEqual(['database.backed_up', 'database.backed_up', 'database.restored']);
    expect([modeOf(other.DATA_DIR), modeOf(file)]).toEqual([0o700, 0o600]);
    const { stdout } = await sharedIntegration(['doctor', '--json'], other);
    const about = ['database', 'migrations', 'encryption-key', 'integrity', 'keys-without-answers'];
    const found: { name: string; status: string }[] = JSON.parse(stdout).checks;
    expect(found.filter(({ name }) => about.includes(name)).map(({ status }) => status)).toEqual(
      about.map(() => 'ok'),
    );
  });
});

describe('of one environment', () => {
  const shared = temporaryDirectories(afterAll);
  const running = runningCommands();
  let settings: Record<string, string>;

  beforeAll(async () => {
    settings = await newLive(shared());
  });

  /**
   * Backups that wait for the database, which this process has locked. Each gives up when it has waited too
   * long for the lock.
   */
  async function waitingBackups(...names: string[]) {
    const holder = new Sqlite(join(settings.DATA_DIR as string, 'integration.db'));
    holder.exec('begin immediate');
    const folder = directory();
    const commands = names.map((name) => running(['backup', join(folder, name)], settings));
    const partials = await eventually('the folders of the backups', () => {
      const found = readdirSync(folder).sort();
      return found.length === names.length && found.map((name) => join(folder, name));
    });
    return { folder, partials, commands, release: () => holder.close() };
  }

  async function waitingBackup() {
    const { commands, partials, ...it } = await waitingBackups('it');
    const [command, partial] = [commands[0] as RunningCommand, partials[0] as string];
    return { ...it, command, partial };
  }

  test('a backup that is killed leaves nothing that has its name or can be restored', async () => {
    const { folder, partial, command, release } = await waitingBackup();
    await command.interrupt('SIGKILL');
    release();
    expect(existsSync(join(folder, 'it'))).toBe(false);
    await expect(restore(loadConfig(settingsIn(folder)), partial, {})).rejects.toThrow(
      `${partial} is not a complete backup: it has no SHA256SUMS.`,
    );
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  test('what a killed backup left is removed by the next one, and not what a living one writes', async () => {
    const { folder, commands, release } = await waitingBackups('it', 'other');
    await commands[0]?.interrupt('SIGKILL');
    release();
    expect(await commands[1]?.ended).toBe(0);
    const living = stage(join(folder, 'living'));
    mkdirSync(living);
    await succeeded(sharedIntegration(['backup', join(folder, 'next')], settings));
    expect(readdirSync(folder).sort()).toEqual([basename(living), 'next', 'other']);
  });

  test('a folder that is not there is not taken for a part of a backup', async () => {
    const folder = directory();
    const absent = join(folder, 'absent');
    await expect(restore(loadConfig(settingsIn(folder)), absent, {})).rejects.toThrow(
      `There is no folder ${absent}.`,
    );
  });

  test('a backup that is ended by a signal removes what it made', async () => {
    const { folder, command, release } = await waitingBackup();
    expect(await command.interrupt('SIGTERM')).toBe(1);
    release();
    expect(command.errors.text()).toContain('The backup was interrupted, and its files were removed.');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('nothing is overwritten, not even an empty folder', async () => {
    const folder = directory();
    writeFileSync(join(folder, 'file'), 'mine');
    mkdirSync(join(folder, 'empty'));
    for (const target of ['file', 'empty'].map((name) => join(folder, name))) {
      const { code, stdout, stderr } = await sharedIntegration(['backup', target], settings);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toBe(
        `${target} already exists. The command does not overwrite it; choose another path.\n`,
      );
    }
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('mine');
    expect(readdirSync(folder).sort()).toEqual(['empty', 'file']);
    const list = await sharedIntegration(['revocations', join(folder, 'file')], settings);
    expect(list.code).toBe(2);
    expect(list.stderr).toContain('already exists. The command does not overwrite it');
    const below = join(folder, 'file', 'valid.jsonl');
    const { code, stderr } = await sharedIntegration(['revocations', below], settings);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^The file \S+valid\.jsonl cannot be written: .+\.\n$/),
    ]);
  });

  test('of several lists with one name that are made at once, one is written and the others are refused', async () => {
    const path = join(directory(), 'valid.jsonl');
    const lists = Array.from({ length: 4 }, () => integration(['revocations', path], settings));
    const codes = (await Promise.all(lists)).map(({ code }) => code);
    expect(codes.sort()).toEqual([0, 2, 2, 2]);
    expect(readdirSync(dirname(path))).toEqual(['valid.jsonl']);
  });

  test('the key in a backup is one that the backup needs, also if a rotation added it during the backup', async () => {
    const folder = directory();
    const passphrase = join(folder, 'passphrase');
    writeFileSync(passphrase, 'long enough for anything\n', { mode: 0o600 });
    const withKey = (name: string) => [
      ...['backup', join(folder, name), '--with-key', '--passphrase-file', passphrase],
    ];
    const [used] = (
      JSON.parse(await succeeded(sharedIntegration([...withKey('first'), '--json'], settings))) as Manifest
    ).encryptionKeys;
    const keyFile = join(folder, 'other.key');
    makeSecretsKeys(keyFile);
    const other = { ...settings, SECRETS_KEY_FILE: keyFile };
    const refused = await sharedIntegration(withKey('second'), other);
    expect([refused.code, refused.stderr]).toEqual([
      78,
      expect.stringMatching(
        new RegExp(`The backup needs the encryption key ${used}, and ${keyFile} holds ek_`),
      ),
    ]);
    expect(existsSync(join(folder, 'second'))).toBe(false);

    // The backup waits for its record in the database until the key has been added to the file.
    const holder = new Sqlite(join(settings.DATA_DIR as string, 'integration.db'));
    holder.exec('begin immediate');
    const command = running(withKey('third'), other);
    await eventually('the backup', () => readdirSync(folder).some((name) => name.startsWith('third')));
    replaceSecretsKeys(keyFile, [
      ...readSecretsKeys(keyFile),
      ...readSecretsKeys(settings.SECRETS_KEY_FILE as string),
    ]);
    holder.close();
    expect(await command.ended).toBe(0);
    const into = settingsIn(join(folder, 'restored'));
    const restoring = ['restore', join(folder, 'third'), '--passphrase-file', passphrase];
    expect((await sharedIntegration(restoring, into)).code).toBe(0);
  });

  test('the key in a backup is one that the backup needs, also if it was removed from the file during the backup', async () => {
    const folder = directory();
    const passphrase = join(folder, 'passphrase');
    writeFileSync(passphrase, 'long enough for anything\n', { mode: 0o600 });
    const keyFile = join(folder, 'other.key');
    makeSecretsKeys(keyFile);
    const others = readSecretsKeys(keyFile);
    replaceSecretsKeys(keyFile, [...others, ...readSecretsKeys(settings.SECRETS_KEY_FILE as string)]);
    // The backup waits for its record in the database until the key has been removed from the file.
    const holder = new Sqlite(join(settings.DATA_DIR as string, 'integration.db'));
    holder.exec('begin immediate');
    const args = ['backup', join(folder, 'it'), '--with-key', '--passphrase-file', passphrase];
    const command = running(args, { ...settings, SECRETS_KEY_FILE: keyFile });
    await eventually('the backup', () => readdirSync(folder).some((name) => name.startsWith('it')));
    replaceSecretsKeys(keyFile, others);
    holder.close();
    expect(await command.ended).toBe(0);
    const into = settingsIn(join(folder, 'restored'));
    const restoring = ['restore', join(folder, 'it'), '--passphrase-file', passphrase];
    expect((await sharedIntegration(restoring, into)).code).toBe(0);
  });

  test('a database of an older release is refused, with what to do before this version starts', async () => {
    const folder = directory();
    const own = await newLive(folder);
    const database = new Sqlite(join(own.DATA_DIR as string, 'integration.db'));
    database.exec("delete from kysely_migration where name > '0005-webhooks'");
    database.close();
    const { code, stderr } = await integration(['backup', join(folder, 'backup')], own);
    expect([code, stderr]).toEqual([
      78,
      expect.stringMatching(
        /\(it lacks 0008-.*\)\. Make the backup with that version\. If it is 1\.3\.1, .*, stop the service, copy integration\.db and integration\.db-wal, and copy the key file: /,
      ),
    ]);
  });

  test('a backup with a foreign trigger is made, with a warning that a restore refuses it', async () => {
    const folder = directory();
    const own = await newLive(folder);
    const database = new Sqlite(join(own.DATA_DIR as string, 'integration.db'));
    database.exec('create trigger for_our_warehouse after update on clients begin select 1; end');
    const target = join(folder, 'backup');
    const { code, stdout, stderr } = await sharedIntegration(['backup', target, '--json'], own);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { database: 'sqlite' }]);
    expect(stderr).toMatch(
      /^WARNING: `integration restore` refuses this backup, because .* the trigger for_our_warehouse of clients, [^\n]+\n$/,
    );
    // This version does not know the triggers of a newer one.
    database.exec("insert into kysely_migration (name, timestamp) values ('9999-later', 'now')");
    database.close();
    const summary = await succeeded(sharedIntegration(['backup', join(folder, 'newer')], own));
    expect(summary).toMatch(/^The backup is complete and checked\.\n/);
  });

  test('a directory without a database is refused, and so is a short passphrase or one that others can read', async () => {
    const folder = directory();
    const target = join(folder, 'it');
    const nowhere = await sharedIntegration(['backup', target], { DATA_DIR: folder });
    expect([nowhere.code, nowhere.stderr]).toEqual([
      78,
      expect.stringContaining(
        `There is no database in ${folder}. Set DATA_DIR to where the service keeps it,`,
      ),
    ]);
    const file = join(folder, 'passphrase');
    const withKey = ['backup', target, '--with-key', '--passphrase-file', file];
    writeFileSync(file, 'too short\n', { mode: 0o600 });
    const short = await sharedIntegration(withKey, settings);
    expect([short.code, short.stderr]).toEqual([2, 'The passphrase must have at least 15 characters.\n']);
    const open = join(folder, 'open');
    writeFileSync(open, 'long enough for anything\n', { mode: 0o644 });
    const readable = await sharedIntegration([...withKey.slice(0, -1), open], settings);
    expect([readable.code, readable.stderr]).toEqual([2, expect.stringContaining(`chmod 600 ${open}`)]);
    const unasked = await sharedIntegration(withKey.slice(0, 3), settings);
    expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('--passphrase-file')]);
    expect(existsSync(target)).toBe(false);
  });
});
