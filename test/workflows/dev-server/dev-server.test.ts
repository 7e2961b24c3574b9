import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { type DevServer, parseLoopbackAddress, startDevServer } from '../../../workflows/dev-server/start.js';
import { spawnTethered } from '../../../workflows/dev-server/tether.js';
import { processesWith } from '../../support/service-process.js';
import { newTemporaryDirectory } from '../../support/temporary-directory.js';
import { describeWith } from '../../support/toolchains.js';
import {
  connectClient,
  eventually,
  freePort,
  NAMESPACE,
  recordingLog,
  silentLog,
  startServer,
  startWithoutPolls,
} from '../temporal-fixture.js';

/** For the end of a server by itself: a busy machine may take longer than a person waits. */
const PATIENT_MS = 60_000;

/** Whether anything of the process group is left: the command, its children or the watcher. */
function groupIsAlive(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

/** Runs a parent that tethers a command, and gives the parent and the command's pid. */
async function tetherFromAnotherProcess(command: string, args: string[]) {
  const parent = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('./tether-parent.ts', import.meta.url)), command, ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = await once(createInterface({ input: parent.stdout }), 'line');
  return { parent, pid: Number(line) };
}

describe('a tethered command', () => {
  test('leaves no process behind when it ends by itself', async () => {
    const child = spawnTethered('/bin/sh', ['-c', 'sleep 60 >/dev/null 2>&1 & exit 3']);
    expect(await child.exited).toEqual({ code: 3, signal: null });
    await eventually('the end of the group', () => !groupIsAlive(child.pid));
  });

  test('passes its output on line by line and does not see the tether', async () => {
    const lines: string[] = [];
    const child = spawnTethered(
      '/bin/sh',
      ['-c', 'echo one; echo two >&2; (: <&3) 2>/dev/null || echo no tether'],
      {
        onStdoutLine: (line) => lines.push(line),
        onStderrLine: (line) => lines.push(line),
      },
    );
    await child.exited;
    expect(lines.sort()).toEqual(['no tether', 'one', 'two']);
  });

  test('is ended with its children when the parent is killed with -9', async () => {
    const { parent, pid } = await tetherFromAnotherProcess('/bin/sh', ['-c', 'sleep 60 & sleep 60 & wait']);
    expect(groupIsAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await eventually('the end of the group', () => !groupIsAlive(pid));
  });

  test('is ended even if it does not listen', async () => {
    const { parent, pid } = await tetherFromAnotherProcess('/bin/sh', [
      '-c',
      "trap '' TERM; while :; do sleep 1; done",
    ]);
    parent.kill('SIGKILL');
    await eventually('the end of the group', () => !groupIsAlive(pid));
  });
});

test('a command that has ended is not signalled: another process may have its number', async () => {
  const child = spawnTethered('/bin/sh', ['-c', 'exit 0']);
  await child.exited;
  const kill = jest.spyOn(process, 'kill');
  child.terminate();
  expect(kill).not.toHaveBeenCalled();
  kill.mockRestore();
});

/** An executable that makes a part of a database file, and ends with this shell command. */
async function partlyMade(end: string) {
  const folder = newTemporaryDirectory();
  const executable = path.join(folder, 'temporal');
  const makes = 'while [ "$1" != --db-filename ]; do shift; done; touch "$2" "$2-wal"';
  await writeFile(executable, `#!/bin/sh\n${makes}\n${end}\n`, { mode: 0o755 });
  const databaseFile = path.join(folder, 'data', 'temporal.db');
  return { executable, databaseFile, files: () => readdir(path.dirname(databaseFile)) };
}

test('a database is made anew until a server has answered from it', async () => {
  const { executable, databaseFile, files } = await partlyMade('echo "no such table" >&2');
  const address = `127.0.0.1:${await freePort()}`;
  const started = () =>
    startDevServer({ executable, address, databaseFile, namespace: NAMESPACE, log: silentLog });
  await expect(started()).rejects.toThrow('Temporal ended while it started: no such table');
  expect(await files()).toEqual(['temporal.db', 'temporal.db-wal', 'temporal.db.unserved']);
  await writeFile(databaseFile, 'a part of the tables');
  await expect(started()).rejects.toThrow('no such table');
  expect(await readFile(databaseFile, 'utf8')).toBe('');
});

test('a database stays if its first server has answered, but was not ready in time', async () => {
  const { executable, databaseFile, files } = await partlyMade('exec sleep 600');
  const port = await freePort();
  const late = new AbortController();
  const address = `127.0.0.1:${port}`;
  const started = startServer(executable, { databaseFile, address, signal: late.signal });
  started.catch(() => undefined);
  await eventually('the database', () => existsSync(`${databaseFile}-wal`));
  const { server } = await startWithoutPolls(port);
  await eventually('the answer', () => !existsSync(`${databaseFile}.unserved`));
  late.abort(new Error('too late'));
  await expect(started).rejects.toThrow('too late');
  server.forceShutdown();
  expect(await files()).toEqual(['temporal.db', 'temporal.db-wal']);
});

describe('the address of the dev server', () => {
  test('is on loopback', () => {
    expect(parseLoopbackAddress('localhost:7233')).toEqual({
      ip: '127.0.0.1',
      port: 7233,
      urlHost: 'localhost',
    });
    expect(parseLoopbackAddress('[::1]:7233')).toMatchObject({ ip: '::1', port: 7233 });
    expect(() => parseLoopbackAddress('0.0.0.0:7233')).toThrow('loopback only');
    expect(() => parseLoopbackAddress('localhost')).toThrow();
    expect(() => parseLoopbackAddress('localhost:99999')).toThrow('no valid port');
  });
});

describeWith('temporal', 'the dev server', (executable) => {
  const servers: DevServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  const serve = async (options: Parameters<typeof startServer>[1] = {}) => {
    const server = await startServer(executable, { stopLimitMs: PATIENT_MS, ...options });
    servers.push(server);
    return server;
  };

  test('serves with its UI, and keeps its database and takes new search attributes at the next start', async () => {
    const databaseFile = path.join(newTemporaryDirectory(), 'temporal', 'temporal.db');
    const uiPort = await freePort();
    const first = await serve({ databaseFile, uiPort, searchAttributes: { SubscriptionId: 'Keyword' } });
    expect((await fetch(`${first.uiUrl}/`)).status).toBe(200);
    const client = await connectClient(first.address);
    await client.workflow.start('kept', { taskQueue: 'nobody', workflowId: 'kept' });
    await client.connection.close();
    await first.stop();
    expect(await first.exited).toEqual({ code: 0, signal: null });

    const searchAttributes = { SubscriptionId: 'Keyword', EventTypes: 'KeywordList' } as const;
    const second = await serve({ databaseFile, searchAttributes });
    const again = await connectClient(second.address);
    expect((await again.workflow.getHandle('kept').describe()).status.name).toBe('RUNNING');
    await again.connection.close();
  });

  test('says in a sentence that a port is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const started = startServer(executable, { address: `127.0.0.1:${port}` });
    try {
      await expect(started).rejects.toThrow(`Port ${port}, for Temporal, is taken.`);
    } finally {
      holder.close();
    }
  });

  test('says what the server said when it does not start, and leaves nothing', async () => {
    const wrong = { Nonsense: 'Nonsense' } as unknown as Record<string, 'Keyword'>;
    await expect(startServer(executable, { searchAttributes: wrong })).rejects.toThrow(
      /^Temporal ended while it started: .*Nonsense/,
    );
  });

  test('is ended while it starts when it is cancelled', async () => {
    const cancel = new AbortController();
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    const started = startServer(executable, { address, signal: cancel.signal, stopLimitMs: PATIENT_MS });
    started.catch(() => undefined);
    await eventually('the process', () => processesWith(`--port ${port}`).length > 0);
    cancel.abort(new Error('not wanted any more'));
    await expect(started).rejects.toThrow('not wanted any more');
    await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
    await eventually('the end of its watcher', () => processesWith(`--port ${port}`).length === 0);
  });

  test('warns about nothing in an ordinary life', async () => {
    const { log, lines } = recordingLog();
    const server = await serve({ log });
    await server.stop();
    expect(lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  test('is gone with its parent, even when that is killed with -9', async () => {
    const port = String(await freePort());
    const { parent, pid } = await tetherFromAnotherProcess(executable, [
      ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', port, '--log-level', 'never'],
    ]);
    await eventually('the server', async () => {
      const socket = connect(Number(port), '127.0.0.1');
      const connected = await once(socket, 'connect').catch(() => false);
      socket.destroy();
      return connected;
    });
    parent.kill('SIGKILL');
    await eventually('the end of the server and its watcher', () => !groupIsAlive(pid));
  });
});
