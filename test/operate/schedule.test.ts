import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/config/package.js';
import { blocksOf } from '../guides/guide-page.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';
import { pages, terminalBlocks } from './blocks.js';
import { testOnLinux } from './machine.js';

const run = promisify(execFile);
const newDirectory = temporaryDirectories();

const BACKUPS = '/var/backups/integration-service';
const UNIT = /^# \/etc\/systemd\/system\/(\S+)\n([\s\S]*?)(?=\n# \/etc|$(?![\s\S]))/gm;
const TIMERS = ['hourly', 'daily'] as const;
const KEPT = 24;

/** The name of a backup of that time. */
const nameOf = (time: number) => new Date(time).toISOString().replace(/\.\d+/, '').replaceAll(':', '');

/** The units of the page, by name. */
const units = new Map(
  blocksOf(pages['back-up-and-restore'] ?? '')
    .filter(({ language }) => language === 'ini')
    .flatMap(({ code }) => [...code.matchAll(UNIT)].map(([, name = '', text = '']) => [name, text] as const)),
);
const service = units.get('integration-backup@.service') ?? '';

describe('a backup on a schedule', () => {
  let root: string;

  beforeEach(() => {
    root = newDirectory();
    mkdirSync(join(root, 'opt/integration-service'), { recursive: true });
  });

  const scheduled = (timer: string) => join(root, BACKUPS, 'scheduled', timer);

  /** Earlier backups, each a folder with a file in it. */
  function earlier(timer: string, count: number): string[] {
    const names = Array.from({ length: count }, (_, hour) => nameOf(Date.UTC(2026, 0, 1, hour)));
    for (const name of names) {
      mkdirSync(join(scheduled(timer), name), { recursive: true });
      writeFileSync(join(scheduled(timer), name, 'manifest.json'), '');
    }
    return names;
  }

  /** Runs what the service runs. */
  async function backUp(timer: string, program = 'mkdir "$2"'): Promise<void> {
    const file = join(root, 'opt/integration-service/integration');
    writeFileSync(file, `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    for (const [, command = ''] of service.matchAll(/^ExecStart(?:Pre)?=(.*)$/gm)) {
      const here = command.replaceAll('%i', timer).replaceAll('%%', '%');
      await run('sh', ['-c', here.replaceAll(/\/(?=var\/|opt\/)/g, `${root}/`)]);
    }
  }

  testOnLinux.each(TIMERS)('leaves the newest copies, a bounded number, when it is %s', async (timer) => {
    const names = earlier(timer, KEPT + 3);
    const begunAt = nameOf(Date.now());
    await backUp(timer);
    const kept = readdirSync(scheduled(timer)).sort();
    expect(kept.slice(0, -1)).toEqual(names.slice(1 - KEPT));
    expect((kept.at(-1) ?? '') >= begunAt).toBe(true);
  });

  testOnLinux('makes room before it begins, and deletes no further copies while backups fail', async () => {
    const names = earlier('hourly', KEPT);
    for (let failed = 0; failed < 3; failed += 1) {
      await expect(backUp('hourly', 'exit 1')).rejects.toMatchObject({ code: 1 });
      expect(readdirSync(scheduled('hourly')).sort()).toEqual(names.slice(1));
    }
  });

  testOnLinux('deletes nothing that the pages make by hand', async () => {
    const typed = Object.keys(pages).flatMap(terminalBlocks).join('\n');
    const made = [...typed.matchAll(new RegExp(`${BACKUPS}/([\\w.-]+)`, 'g'))].map(([, name = '']) => name);
    expect(made).toEqual(expect.arrayContaining(['monday', 'before-upgrade', 'valid-now.jsonl']));
    earlier('hourly', KEPT);
    for (const name of made) {
      writeFileSync(join(root, BACKUPS, name), '');
      utimesSync(join(root, BACKUPS, name), 0, 0);
    }
    await backUp('hourly');
    expect(made.filter((name) => !existsSync(join(root, BACKUPS, name)))).toEqual([]);
  });

  test('runs under the timers that the page starts, and tells a unit when it fails', () => {
    const started = terminalBlocks('back-up-and-restore').find((code) => code.startsWith('systemctl enable'));
    expect(started?.match(/@\w+\.timer/g)).toEqual(TIMERS.map((timer) => `@${timer}.timer`));
    expect(units.get('integration-backup@.timer')).toContain('\nOnCalendar=%i\n');
    expect(service).toMatch(/^OnFailure=/m);
  });
});

test.each([
  ['serve', 'domain'],
  ['domain', 'serve'],
])('a backup on a schedule has the settings of the command, with the line of %s alone', (role, other) => {
  const command = readFileSync(join(packageRoot, 'deploy/systemd/integration.sh'), 'utf8');
  const filesIn = (text: string) => text.match(/\bEnvironmentFile=\S+/g) ?? [];
  const kept = filesIn(service).filter((file) => !file.endsWith(`/${other}.environment`));
  expect(kept).toEqual(filesIn(command.replace('$role', role)));
});

/** Those that the page names for a database behind PgBouncer. */
const forPooler = [
  ...(pages['health-and-restarts'] ?? '').matchAll(/`((?:LoadCredential|Environment)=[^`]*)`/g),
].map(([, line = '']) => line);

test('behind PgBouncer, a backup has the address of PostgreSQL itself as its database', () => {
  const credentials = readFileSync(join(packageRoot, 'deploy/systemd/credentials.conf'), 'utf8');
  const [, direct] = /^#?LoadCredential=database-direct-url:(.*)$/m.exec(credentials) ?? [];
  const [, environment] = /^(Environment=DATABASE_URL_FILE=.*)$/m.exec(credentials) ?? [];
  expect(forPooler).toEqual([`LoadCredential=database-url:${direct}`, environment]);
});

describeWith('systemd-analyze', 'the units of the page', (analyze) => {
  test.each(TIMERS)('pass systemd-analyze as %s', async (timer) => {
    const folder = newDirectory();
    for (const [name, text] of units) {
      writeFileSync(
        join(folder, name),
        text.replace('[Service]\n', (line) => [line, ...forPooler, ''].join('\n')),
      );
    }
    const names = [`integration-backup@${timer}.timer`, `integration-backup@${timer}.service`];
    for (const name of names) {
      await expect(run(analyze, ['verify', '--man=no', join(folder, name)])).resolves.toMatchObject({
        stderr: '',
      });
    }
  });
});
