import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readList } from '../flow/reading.js';
import { openImport } from '../store/adapters/platform/import-call.js';
import { endsWithThisProcess } from '../support/ends-with-this-process.js';
import { eventually } from '../support/eventually.js';
import { isRunning, type Role, type ServiceProcess, serviceProcesses } from '../support/service-process.js';

const services = serviceProcesses();

/** For a call that ends after another process has started, within the grace of the first. */
const WHOLE_START_MS = 120_000;

describe('a role that is killed', () => {
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await services.start();
  });

  test.each(['domain', 'worker', 'edge'] as const)(
    '%s: is started again at once, its parent says so, and requests succeed again',
    async (role) => {
      const [key = ''] = service.demo().apiKeys.map((apiKey) => apiKey.key);
      const others = service.rolePids().filter((pid) => pid !== service.pidOf(role));
      const killed = service.pidOf(role);
      process.kill(killed, 'SIGKILL');

      const ended = await service.output.nextLine(({ msg }) => msg === `${role} ended, starting it again`);
      expect(ended).toMatchObject({ level: 'warn', signal: 'SIGKILL', delayMs: 100 });
      const back = await service.output.nextLine(({ msg }) => msg === `${role} is back`);
      expect(Number(back.awayMs)).toBeGreaterThan(0);
      expect(service.pidOf(role)).not.toBe(killed);
      expect(others.every(isRunning)).toBe(true);

      await eventually('a request that succeeds', async () => (await statusOf(service, key)) === 200);
      await service.readiness();
    },
  );
});

describe('a role that is frozen', () => {
  test('is killed and started again, and the others continue', async () => {
    const service = await services.start({ env: { ROLE_SILENCE_LIMIT: '10s' } });
    const frozen = service.pidOf('domain');
    process.kill(frozen, 'SIGSTOP');
    const killed = await service.output.nextLine(({ msg }) => msg === 'domain does not answer, killing it');
    expect(killed).toMatchObject({ level: 'error', childPid: frozen, silenceLimitMs: 10_000 });
    await service.output.nextLine(({ msg }) => msg === 'domain is back');
    expect(isRunning(frozen)).toBe(false);
    await service.readiness();
    await service.stop();
  });
});

describe('a role that served and cannot start again', () => {
  test('is tried again until what it needs is back, and the others continue', async () => {
    const service = await services.start();
    const [key = ''] = service.demo().apiKeys.map((apiKey) => apiKey.key);
    const file = join(service.dataDir, 'integration.db');
    renameSync(file, `${file}.away`);
    symlinkSync(service.dataDir, file);
    process.kill(service.pidOf('domain'), 'SIGKILL');

    const tried = await service.output.nextLine(({ reason }) => /cannot be opened/.test(String(reason)));
    expect(tried).toMatchObject({ level: 'warn', msg: 'domain ended, starting it again', code: 78 });
    expect(await statusOf(service, key)).toBe(503);

    // In one step: a domain that starts between two would make a new database.
    renameSync(`${file}.away`, file);
    await eventually('a request that succeeds', async () => (await statusOf(service, key)) === 200);
    await service.stop();
  });
});

describe('a parent that is killed', () => {
  test('leaves no child, also when its output is not read', async () => {
    const service = await services.start();
    const pids = service.rolePids();
    expect(pids.every(isRunning)).toBe(true);
    service.signal('SIGKILL');
    await eventually('every child gone', () => !pids.some(isRunning));
  });

  test('is followed by one that waits for the children of the first, which finish their calls', async () => {
    const first = await services.start({ env: { SHUTDOWN_GRACE: '2m' } });
    const address = `127.0.0.1:${first.settings.GRPC_PORT}`;
    const call = openImport(address, first.demo().platformToken, WHOLE_START_MS);
    call.begin();
    call.lines({ line: 1, record: undefined });
    expect(await call.next()).toMatchObject({ refusedLines: [{ line: 1 }] });
    first.signal('SIGKILL');
    const next = await services.launch({ dataDir: first.dataDir, env: first.settings });
    await next.output.nextLine(
      ({ msg }) => msg === 'waiting for the processes of an earlier supervisor to end',
    );
    call.end();
    expect((await call.rest()).responses.at(-1)).toMatchObject({ done: true });
    await next.ready();
    await next.readiness();
    await next.stop();
  });

  test('is followed by one that waits for the Temporal server of the first', async () => {
    const dataDir = services.newDirectory();
    mkdirSync(join(dataDir, 'run'));
    const earlier = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    endsWithThisProcess(earlier);
    const groupFile = join(dataDir, 'run/temporal.group');
    writeFileSync(groupFile, String(earlier.pid));
    const next = await services.launch({ dataDir });
    await next.output.nextLine(
      ({ msg }) => msg === 'waiting for the processes of an earlier supervisor to end',
    );
    expect(next.output.lines().map(({ role }) => role)).toEqual(['serve']);
    earlier.kill();
    await next.ready();
    expect(existsSync(groupFile)).toBe(false);
    await next.stop();
  });

  test('is followed by one that a signal ends while it waits, without a role', async () => {
    const dataDir = services.newDirectory();
    const socket = join(dataDir, 'run', 'domain.ops.sock');
    mkdirSync(dirname(socket), { recursive: true });
    const earlier = createServer().listen(socket);
    const next = await services.launch({ dataDir });
    await next.output.nextLine(
      ({ msg }) => msg === 'waiting for the processes of an earlier supervisor to end',
    );
    next.signal('SIGTERM');
    expect(await next.exited).toEqual({ code: 0, signal: null });
    expect(next.output.lines().map(({ role }) => role)).toEqual(['serve']);
    expect(existsSync(socket)).toBe(true);
    earlier.close();
  });

  test('leaves no child that was still starting', async () => {
    const service = await services.launch();
    const pids = await eventually('three children', () => service.childPids());
    service.signal('SIGKILL');
    await eventually('every child gone', () => !pids.some(isRunning));
  });
});

describe('a role that crashes at once', () => {
  test('is started again with growing delays, while the others serve', async () => {
    const crash = `data:text/javascript,if (process.argv.includes('worker')) process.exit(3)`;
    const service = await services.launch({ env: { NODE_OPTIONS: `--import="${crash}"` } });
    const delays = await eventually('four restarts', () => {
      const ends = service.output.lines().filter(({ msg }) => msg === 'worker ended, starting it again');
      return ends.length >= 4 && ends.map(({ delayMs, code }) => [code, delayMs]);
    });
    expect(delays.slice(0, 4)).toEqual([
      [3, 100],
      [3, 200],
      [3, 400],
      [3, 800],
    ]);
    const readiness = await eventually('the others ready', async () => {
      const response = await fetch(`${service.opsUrl}/readyz`);
      const body = (await response.json()) as { roles: Partial<Record<Role, { status: string }>> };
      const { domain, edge } = body.roles;
      return domain?.status === 'ready' && edge?.status === 'ready' && { status: response.status, body };
    });
    expect(readiness).toMatchObject({
      status: 200,
      body: { status: 'degraded', roles: { worker: { status: 'unready' } } },
    });
    // A busy machine may answer a probe late.
    await eventually('the status of each', async () => {
      const statuses = ['livez', 'readyz/edge', 'readyz/domain', 'readyz/worker'].map(
        async (path) => (await fetch(`${service.opsUrl}/${path}`)).status,
      );
      return (await Promise.all(statuses)).join() === '200,200,200,503';
    });
  });
});

async function statusOf(service: ServiceProcess, key: string): Promise<number | undefined> {
  const response = await readList(service, key).catch(() => undefined);
  return response?.status;
}
