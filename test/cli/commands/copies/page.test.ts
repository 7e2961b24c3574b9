import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../../../src/config/package.js';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { mainFile } from '../../../support/service-process.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { integration } from '../../typed.js';
import { succeeded } from './rig.js';

const directory = temporaryDirectories();

/** Commands that need a running service; `revoked.test.ts` covers them. */
const SERVED = /^integration (serve|event replay)\b/;
/** The roots of the paths on the page; the test replaces them with its own folder. */
const PLACES = /\/(?=(var|etc|root)\/)/g;

function commandsOf(page: string): string[] {
  return [...page.matchAll(/^```sh\n(.*?)\n```$/gms)].flatMap(([, block = '']) => block.split('\n'));
}

/** A list needs a change that is newer than the backup. */
function revokeSomething(file: string): void {
  const database = new Sqlite(file);
  database
    .prepare(`insert into audit_events (id, created_at, type, outcome, actor_type, actor_id, attributes)
      values ('aud_1', ?, 'api_key.revoked', 'success', 'operator', 'tok_1', '{}')`)
    .run(Date.now());
  database.close();
}

test('the commands of the page about backups do what it says, in its order', async () => {
  const folder = directory();
  const bin = join(folder, 'bin');
  for (const each of [bin, join(folder, 'root'), join(folder, 'etc/integration')]) {
    mkdirSync(each, { recursive: true });
  }
  writeFileSync(join(bin, 'integration'), `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`);
  chmodSync(join(bin, 'integration'), 0o755);
  writeFileSync(join(folder, 'etc/integration/passphrase'), 'a passphrase of enough characters\n', {
    mode: 0o600,
  });
  const settings = { DATA_DIR: join(folder, 'var/lib/integration') };
  await succeeded(integration(['init'], settings));

  const page = readFileSync(join(packageRoot, 'src/docs/operate/back-up-and-restore.md'), 'utf8');
  const commands = commandsOf(page).filter((command) => !SERVED.test(command));
  expect(commands.length).toBeGreaterThan(8);
  const said: string[] = [];
  for (const command of commands) {
    if (command.startsWith('integration revocations')) {
      revokeSomething(join(folder, 'var/lib/integration/integration.db'));
    }
    const env = { ...settings, PATH: `${bin}:${process.env.PATH}` };
    const shell = spawn('sh', ['-c', command.replaceAll(PLACES, `${folder}/`)], { cwd: folder, env });
    const ended = new Promise((resolve) => shell.once('close', resolve));
    const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
    expect([command, await ended, stderr]).toEqual([command, 0, expect.not.stringContaining('rror')]);
    said.push(stdout);
  }
  expect(said.join('\n')).toMatch(
    /Suspended, because they may have been revoked after [\s\S]*\nResumed: tok_/,
  );
});
