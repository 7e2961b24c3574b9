import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot, packageVersion } from '../../src/config/package.js';
import { newPackage, PACKAGE_NAME, packageOfRun } from '../support/packed.js';
import { serviceProcesses } from '../support/service-process.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';

const run = promisify(execFile);
const jsonOf = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const services = serviceProcesses();
const newDirectory = temporaryDirectories(afterAll);

const isNode20 = process.versions.node.startsWith('20.');
const UNIT = 'integration-service@serve.service';
/** In tenths. systemd rates the exposure of a service from 0 (safe) to 10. */
const MOST_EXPOSED = 15;

const NO_KEY = { key: '', instanceIntegrationIds: [] };

let packed: string[];
/** Contains only the unpacked tarball. */
let system: string;
let unpacked: string;

beforeAll(async () => {
  packed = await Promise.all([packageOfRun(), newPackage(newDirectory())]);
  system = newDirectory();
  execFileSync('tar', ['-xzf', packed[0] as string, '-C', system]);
  unpacked = join(system, PACKAGE_NAME);
}, 300_000);

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The content of each file, by its hash. */
function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length), hashOf(path)];
    }),
  );
}

test('two packages of the same sources are identical', () => {
  const other = newDirectory();
  execFileSync('tar', ['-xzf', packed[1] as string, '-C', other]);
  expect(contentsOf(other)).toEqual(contentsOf(system));
  const [one, two] = packed.map(hashOf);
  expect(one).toBe(two);
});

describe('the tarball', () => {
  test('contains the service, its licences, units, and files for proxies and monitoring', () => {
    expect(readdirSync(unpacked).sort()).toEqual([
      'CHANGELOG.md',
      'INSTALL.md',
      'LICENSE',
      'THIRD-PARTY-LICENSES.txt',
      'cluster',
      'dist',
      'generated',
      'grafana',
      'integration',
      'node_modules',
      'package.json',
      'prometheus',
      'systemd',
    ]);
    const notices = readFileSync(join(unpacked, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['openapi-backend', 'kysely', 'pg', 'jose']) {
      expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
  });

  test('contains the production packages in their locked versions, and no development tool', () => {
    const { packages } = jsonOf(join(packageRoot, 'package-lock.json'));
    const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
    const folders = files.flatMap(
      (file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/@]+)\/package\.json$/.exec(file)?.[1] ?? [],
    );
    const strays = folders.filter((path) => {
      const { version } = jsonOf(join(unpacked, path, 'package.json'));
      return packages[path]?.version !== version || packages[path].dev;
    });
    expect(folders.length).toBeGreaterThan(50);
    // Temporal's worker loads webpack at each start: the package has a stub that refuses to bundle.
    expect(strays).toEqual(['node_modules/webpack']);
    expect(readdirSync(join(unpacked, 'node_modules/webpack')).sort()).toEqual(['index.js', 'package.json']);
    expect(
      files.filter((file) => /better.sqlite3.*\.node$|^node_modules\/better-sqlite3[^/]*$/.test(file)).sort(),
    ).toEqual(
      isNode20
        ? ['node_modules/better-sqlite3', 'node_modules/better-sqlite3/build/Release/better_sqlite3.node']
        : [
            'node_modules/better-sqlite3-napi',
            `node_modules/better-sqlite3-napi/prebuilds/${process.platform}-${process.arch}.node`,
          ],
    );
    for (const tool of ['esbuild', 'tsx', 'typescript', '@swc/core', 'prebuild-install', 'jest', 'terser']) {
      expect(folders.filter((path) => path.endsWith(`node_modules/${tool}`))).toEqual([]);
    }
    expect(files.filter((file) => /\.(?:[cm]?ts|map|o|gyp|c|rs|test\.\w+)$/.test(file))).toEqual([]);
  });

  test('imports node:http at no start, which would load Node’s fetch, 14 MB in every process', () => {
    const parts = readdirSync(join(unpacked, 'dist'), { recursive: true, encoding: 'utf8' });
    const code = parts
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFileSync(join(unpacked, 'dist', file), 'utf8'));
    expect(code.some((text) => text.includes('getBuiltinModule("node:http")'))).toBe(true);
    expect(code.filter((text) => /from\s*"(?:node:)?http"/.test(text))).toEqual([]);
  });

  test('writes no core dumps, which would contain keys', async () => {
    const folder = newDirectory();
    writeFileSync(join(folder, 'node'), '#!/bin/sh\nulimit -c\n', { mode: 0o755 });
    const raised = 'ulimit -S -c "$(ulimit -H -c)"; exec "$0"';
    const env = { PATH: `${folder}:/usr/bin:/bin` };
    const { stdout } = await run('sh', ['-c', raised, join(unpacked, 'integration')], { env });
    expect(stdout).toBe('0\n');
  });

  test('runs outside the repository', async () => {
    const { stdout } = await run(join(unpacked, 'integration'), ['--version'], {
      cwd: system,
      env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
    });
    expect(stdout).toBe(`${packageVersion}\n`);
    const service = await services.start({ main: join(unpacked, 'dist/src/cli/main.js') });
    await service.readiness();
    const [{ key, instanceIntegrationIds } = NO_KEY] = service.demo().apiKeys;
    const list = await fetch(
      `${service.gatewayUrl}/v1/instance-integrations/${instanceIntegrationIds[0]}/clients`,
      { headers: { 'x-api-key': key } },
    );
    expect([list.status, ((await list.json()) as unknown[]).length]).toEqual([200, 2]);
    const pages = await Promise.all(
      ['/docs', '/docs/reference/gateway', '/docs/operate/monitoring'].map((path) =>
        fetch(service.gatewayUrl + path),
      ),
    );
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});

describeWith('systemd-analyze', 'the unit of systemd', (analyze) => {
  let root: string;
  let unit: string;

  beforeAll(() => {
    root = newDirectory();
    unit = readFileSync(join(unpacked, 'systemd/integration-service@.service'), 'utf8');
    const units = join(root, 'etc/systemd/system');
    const program = join(root, 'opt/integration-service');
    execFileSync('mkdir', [
      '-p',
      units,
      program,
      join(root, 'etc/sysusers.d'),
      join(root, 'usr/lib/systemd'),
    ]);
    execFileSync('cp', [join(unpacked, 'integration'), program]);
    execFileSync('cp', ['-r', '/lib/systemd/system', join(root, 'usr/lib/systemd')]);
    execFileSync('cp', [join(unpacked, 'systemd/integration-service@.service'), units]);
    execFileSync('mkdir', [join(units, 'integration-service@.service.d')]);
    // Uncomments the optional lines.
    const credentials = readFileSync(join(unpacked, 'systemd/credentials.conf'), 'utf8');
    const file = join(units, 'integration-service@.service.d/credentials.conf');
    writeFileSync(file, credentials.replace(/^#(?=\w+=)/gm, ''));
  });

  test.each(['serve', 'edge', 'domain', 'worker'])('passes systemd-analyze for %s', async (role) => {
    const unit = `integration-service@${role}.service`;
    const { stderr } = await run(analyze, ['verify', '--man=no', `--root=${root}`, unit]);
    expect(stderr).not.toContain('integration-service');
  });

  test('limits what the service can reach', async () => {
    const options = ['--offline=true', `--threshold=${MOST_EXPOSED}`, '--no-pager'];
    const { stdout } = await run(analyze, ['security', ...options, `--root=${root}`, UNIT]);
    expect(stdout).toMatch(/Overall exposure level .*: 1\.\d OK/);
  });

  test('lets the threads that check passwords lower their priority', async () => {
    const { stdout } = await run(analyze, ['syscall-filter', '--no-pager']);
    const sets = new Map(
      stdout
        .split(/^(?=@)/m)
        .map((text) => text.split('\n').map((line) => line.trim()))
        .map(([name = '', ...calls]) => [name, calls] as const),
    );
    const callsOf = (name: string): string[] => sets.get(name)?.flatMap(callsOf) ?? [name];
    const permitted = new Set<string>();
    for (const [, not, names = ''] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
      for (const call of names.split(' ').flatMap(callsOf)) {
        if (not) {
          permitted.delete(call);
        } else {
          permitted.add(call);
        }
      }
    }
    expect([...permitted]).toEqual(expect.arrayContaining(['setpriority', 'epoll_ctl', 'pwrite64']));
    expect([...permitted]).not.toEqual(expect.arrayContaining(['setuid']));
  });
});
