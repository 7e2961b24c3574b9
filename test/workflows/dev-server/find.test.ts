import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { hostname } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { cachedExecutable } from '../../../workflows/dev-server/cache.js';
import { candidatesOnPath, runCommand } from '../../../workflows/dev-server/command.js';
import { type FindOptions, findTemporal } from '../../../workflows/dev-server/find.js';
import { eventually } from '../../support/eventually.js';
import { listenOnLoopback } from '../../support/loopback.js';
import { isRunning } from '../../support/service-process.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const TEMPORAL_SCRIPT = '#!/bin/sh\necho "temporal version 1.2.3 (Server 1.2.3, UI 1.2.3)"\n';
const BROKEN_SCRIPT = '#!/bin/sh\nexit 127\n';
const OLD_SCRIPT = `#!/bin/sh
for flag; do [ "$flag" = --version ] || { echo "unknown flag: $flag"; exit 1; }; done
echo "temporal version 1.0.0 (Server 1.24.2, UI 2.28.0)"
`;

const newDirectory = temporaryDirectories();
let files: string;
let env: NodeJS.ProcessEnv;
const servers: (Server | TcpServer)[] = [];
const sockets: Socket[] = [];

beforeEach(async () => {
  files = newDirectory();
  const bin = path.join(files, 'bin');
  await mkdir(bin, { recursive: true });
  // Only what the routes and the scripts need, so that a temporal or a go of this machine is never met.
  for (const tool of ['tar', 'gzip', 'sleep', 'mkdir', 'chmod']) {
    const found = candidatesOnPath(tool, { PATH: '/usr/bin:/bin' }).find(existsSync);
    if (found) {
      await symlink(found, path.join(bin, tool));
    }
  }
  env = { PATH: bin, HOME: files, XDG_CACHE_HOME: path.join(files, 'cache') };
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) {
    socket.destroy();
  }
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function place(file: string, content: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  await chmod(file, 0o755);
  return file;
}

const placeOnPath = (name: string, content: string) => place(path.join(files, 'bin', name), content);

async function listen(server: Server | TcpServer): Promise<string> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.push(socket));
  return `http://127.0.0.1:${await listenOnLoopback(server)}`;
}

/** Serves the archive a download would bring. */
async function serveArchive(executable: string): Promise<string> {
  const folder = path.join(files, 'archive');
  await place(path.join(folder, 'temporal'), executable);
  await runCommand('tar', ['-czf', `${folder}.tgz`, '-C', folder, 'temporal'], { silenceLimitMs: 60_000 });
  const archive = await readFile(`${folder}.tgz`);
  return listen(createServer((_, response) => response.end(archive)));
}

const find = (options: FindOptions = {}) =>
  findTemporal({ env, downloadBaseUrl: 'http://127.0.0.1:1', ...options });

/** For what says nothing. */
const SILENCE_LIMIT_MS = 500;
/** Where something else must answer within the same limit, also on a busy machine. */
const LONGER_SILENCE_LIMIT_MS = 10_000;

const cacheContent = () => readdir(path.dirname(cachedExecutable(env)));

/** A Go that answers its version and does `install` in the given way. */
const fakeGo = (install: string, version = 'go1.26.8') =>
  placeOnPath(
    'go',
    `#!/bin/sh\nif [ "$1" = version ]; then echo "go version ${version} any/any"; exit; fi\n${install}\n`,
  );

const GO_THAT_BUILDS = `echo "go: downloading example" >&2
mkdir -p "$GOBIN" "$GOMODCACHE"
printf '%s\\n' '#!/bin/sh' 'echo "temporal version 0.0.0-DEV"' > "$GOBIN/temporal"
chmod +x "$GOBIN/temporal"`;

test('the one on the PATH comes first', async () => {
  const executable = await placeOnPath('temporal', TEMPORAL_SCRIPT);
  await place(cachedExecutable(env), TEMPORAL_SCRIPT);
  expect(await find()).toBe(executable);
});

test('the one on the PATH is found for a user without a home folder', async () => {
  const executable = await placeOnPath('temporal', TEMPORAL_SCRIPT);
  const homeless = {
    PATH: env.PATH,
    get HOME(): string {
      throw new Error('there is no home folder');
    },
  };
  expect(await find({ env: homeless })).toBe(executable);
});

test.each([
  { what: 'that does not run', script: BROKEN_SCRIPT },
  { what: 'without the flags of the start', script: OLD_SCRIPT },
])('one on the PATH $what is passed over for the cached one', async ({ script }) => {
  await placeOnPath('temporal', script);
  const executable = await place(cachedExecutable(env), TEMPORAL_SCRIPT);
  expect(await find()).toBe(executable);
});

test('without either it is downloaded, and found in the cache the second time', async () => {
  const downloadBaseUrl = await serveArchive(TEMPORAL_SCRIPT);
  const executable = cachedExecutable(env);
  expect(await find({ downloadBaseUrl })).toBe(executable);
  expect(await cacheContent()).toEqual(['temporal']);
  expect(await find()).toBe(executable);
});

test('a broken file in the cache is replaced', async () => {
  const executable = await place(cachedExecutable(env), 'half a fi');
  expect(await find({ downloadBaseUrl: await serveArchive(TEMPORAL_SCRIPT) })).toBe(executable);
  expect(await readFile(executable, 'utf8')).toBe(TEMPORAL_SCRIPT);
  expect(await find()).toBe(executable);
});

test('two installers at once do not disturb each other', async () => {
  const downloadBaseUrl = await serveArchive(TEMPORAL_SCRIPT);
  const found = await Promise.all(Array.from({ length: 4 }, () => find({ downloadBaseUrl })));
  expect(new Set(found)).toEqual(new Set([cachedExecutable(env)]));
  expect(await cacheContent()).toEqual(['temporal']);
});

test('a download that does not run here is not kept, and Go is next', async () => {
  await fakeGo(GO_THAT_BUILDS);
  const progress: string[] = [];
  const downloadBaseUrl = await serveArchive(BROKEN_SCRIPT);
  const found = await find({ downloadBaseUrl, onProgress: (line) => progress.push(line) });
  expect(found).toBe(cachedExecutable(env));
  expect(progress).toContain('Not this way: the downloaded file does not run here');
  expect(await cacheContent()).toEqual(['temporal']);
});

test('a download that accepts and stays silent is given up', async () => {
  await fakeGo(GO_THAT_BUILDS);
  const downloadBaseUrl = await listen(createTcpServer());
  const found = await find({ downloadBaseUrl, silenceLimitMs: LONGER_SILENCE_LIMIT_MS });
  expect(found).toBe(cachedExecutable(env));
});

test('a download that stops in the middle is given up', async () => {
  const downloadBaseUrl = await listen(createServer((_, response) => response.write('the beginning')));
  await expect(find({ downloadBaseUrl, silenceLimitMs: SILENCE_LIMIT_MS })).rejects.toThrow(
    'could not be read (silent for 0.5 s)',
  );
  expect(await cacheContent()).toEqual([]);
});

test('a Go that is too old is not used, and the sentence says all that was tried', async () => {
  await fakeGo(GO_THAT_BUILDS, 'go1.24.9');
  const failure = await find().catch((error) => error);
  expect(failure.message).toMatch(
    /^Temporal is missing and could not be had \(127\.0\.0\.1:1 could not be read \(.+\); Go 1\.25 or newer is needed and the one on the PATH is 1\.24\): install the Temporal CLI .* or set TEMPORAL_ADDRESS to a server that runs\.$/,
  );
});

test('a Go that gets no answer is given up, and nothing is left', async () => {
  await fakeGo('sleep 60');
  await expect(find({ silenceLimitMs: SILENCE_LIMIT_MS })).rejects.toThrow(
    'Go got no answer for the module within 0.5 s',
  );
  expect(await cacheContent()).toEqual([]);
});

test('a cancelled installation leaves no process and no folder', async () => {
  const pidFile = path.join(files, 'pid');
  await fakeGo(`echo "go: downloading x" >&2; mkdir -p "$GOMODCACHE"; sleep 60 & echo $! > ${pidFile}; wait`);
  const cancel = new AbortController();
  const finding = find({ signal: cancel.signal }).catch((error) => error);
  const pid = Number(await eventually('the installation', () => readFile(pidFile, 'utf8').catch(() => '')));
  expect((await cacheContent()).join()).toMatch(/^installing-/);
  cancel.abort(new Error('Interrupted.'));
  expect(await finding).toMatchObject({ message: 'Interrupted.' });
  expect(await cacheContent()).toEqual([]);
  await eventually('the end of the child', () => !isRunning(pid));
});

test('the folder of an installer that was killed is removed by the next one on its host', async () => {
  const killed = await runCommand('/bin/sh', ['-c', 'echo $$'], { silenceLimitMs: 60_000 });
  const cacheFolder = path.dirname(cachedExecutable(env));
  await place(
    path.join(cacheFolder, `installing-${hostname()}-${killed.lastLines[0]}-x`, 'modules', 'm'),
    'left',
  );
  const ofAnotherHost = `installing-${hostname()}-b-${killed.lastLines[0]}-x`;
  await place(path.join(cacheFolder, ofAnotherHost, 'm'), 'in use');
  await find({ downloadBaseUrl: await serveArchive(TEMPORAL_SCRIPT) });
  expect((await cacheContent()).sort()).toEqual([ofAnotherHost, 'temporal']);
});
