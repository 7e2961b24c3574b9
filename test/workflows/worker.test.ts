import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { Client, ScheduleHandle } from '@temporalio/client';
import { backoffDelayMs } from '../../workflows/backoff.js';
import { scheduleIds, TASK_QUEUE } from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { ensureSchedules } from '../../workflows/schedules.js';
import { startTemporalWorker, type TemporalWorker, type WorkerOptions } from '../../workflows/worker.js';
import type { WorkerState } from '../../workflows/worker-state.js';
import { LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { describeWith } from '../support/toolchains.js';
import {
  connectClient,
  eventually,
  FAR_AWAY_MS,
  farAway,
  freePort,
  NAMESPACE,
  purgeIntervalOf,
  quickPurge,
  recordingLog,
  removeSchedules,
  scriptedMaintenance,
  silentLog,
  startServer,
  startWithoutPolls,
  untilProbed,
  workOf,
  writeBundle,
} from './temporal-fixture.js';

let bundlePath: string;
const workers: TemporalWorker[] = [];
const servers: DevServer[] = [];

beforeAll(async () => {
  bundlePath = await writeBundle();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.shutdown()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function work(address: string, options: Partial<WorkerOptions> = {}) {
  const states: WorkerState[] = [];
  const worker = await startTemporalWorker({
    address,
    namespace: NAMESPACE,
    work: workOf(scriptedMaintenance({ purge: [{ deleted: { codes: 1 }, more: false }] })),
    log: silentLog,
    onState: (state) => states.push(state),
    shutdownGraceMs: 1_000,
    probeIntervalMs: 100,
    backoff: { firstDelayMs: 50, maxDelayMs: 200 },
    bundlePath,
    ...options,
  });
  workers.push(worker);
  const reaches = (status: WorkerState['status']) =>
    eventually(`the worker is ${status}`, () => worker.state.status === status && worker.state);
  return { worker, states, reaches };
}

test('a worker without a server starts at once, says what is missing, and does not need its grace to end', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const asked = jest.fn(workOf({}));
  const { worker, states, reaches } = await work(address, {
    shutdownGraceMs: LONGER_THAN_A_TEST_MS,
    work: asked,
  });
  expect(worker.state.status).toBe('connecting');
  const { reason } = await reaches('disconnected');
  expect(reason).toBe(`Nothing answers at ${address}.`);
  await worker.shutdown();
  await worker.shutdown();
  expect(asked).not.toHaveBeenCalled();
  expect(states.map(({ status }) => status).slice(0, 2)).toEqual(['connecting', 'disconnected']);
});

test('a worker says since when it has been away, whatever the reasons', async () => {
  const { worker, states, reaches } = await work(`127.0.0.1:${await freePort()}`);
  await reaches('disconnected');
  const [connecting, disconnected] = states;
  expect(connecting?.awaySince).toBeInstanceOf(Date);
  expect(disconnected?.awaySince).toEqual(connecting?.awaySince);
  expect(worker.state.awaySince).toEqual(connecting?.awaySince);
});

test('a worker whose polls are refused says so, and does not count as one that polls', async () => {
  const { server, address } = await startWithoutPolls();
  try {
    const { worker, states } = await work(address);
    // This process is the server too, and may at first be too busy to answer itself in time.
    const reason = await eventually(
      'the reason',
      () => worker.state.reason?.includes('refuses') && worker.state.reason,
    );
    expect(worker.state.status).toBe('disconnected');
    expect(reason).toBe(
      `Temporal at ${address} refuses polls in the namespace "${NAMESPACE}": give the account of the worker the right ` +
        'to poll and to complete tasks.',
    );
    await worker.shutdown();
    expect(states.map((state) => state.status)).not.toContain('polling');
  } finally {
    server.forceShutdown();
  }
});

test('a worker refuses to start without its bundle', async () => {
  await expect(work('127.0.0.1:1', { bundlePath: '/nowhere/bundle.js' })).rejects.toThrow(
    'The workflow bundle /nowhere/bundle.js is missing: build the project first.',
  );
});

test('the delays between attempts grow to a limit and differ between workers', () => {
  const settings = { firstDelayMs: 100, maxDelayMs: 1_000 };
  for (const [failures, ceilingMs] of [
    [1, 100],
    [2, 200],
    [4, 800],
    [5, 1_000],
    [500, 1_000],
  ] as const) {
    const delays = Array.from({ length: 50 }, () => backoffDelayMs(failures, settings));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(ceilingMs / 2);
    expect(Math.max(...delays)).toBeLessThanOrEqual(ceilingMs);
    expect(new Set(delays).size).toBeGreaterThan(1);
  }
});

describeWith('temporal', 'a worker with a server', (executable) => {
  let lasting: DevServer;
  let client: Client;
  beforeAll(async () => {
    lasting = await startServer(executable);
    client = await connectClient(lasting.address);
  });
  afterAll(async () => {
    await client?.connection.close();
    await lasting?.stop();
  });
  /** For tests that need one server, of which others leave nothing that matters. */
  const atLasting = async (options: Partial<WorkerOptions> = {}) => {
    await removeSchedules(client);
    return work(lasting.address, options);
  };
  const serve = async (options: Parameters<typeof startServer>[1] = {}) => {
    const server = await startServer(executable, options);
    servers.push(server);
    return server;
  };

  async function purgeOnce(address: string, workflowId: string): Promise<unknown> {
    const client = await connectClient(address);
    try {
      return await client.workflow.execute('purge', {
        taskQueue: TASK_QUEUE,
        workflowId,
        args: [quickPurge],
      });
    } finally {
      await client.connection.close();
    }
  }

  test('joins a server that comes later, and makes its schedules', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const { reaches } = await work(address);
    await reaches('disconnected');
    await serve({ address });
    await reaches('polling');
    const client = await connectClient(address);
    await eventually('the schedule', () =>
      client.schedule
        .getHandle('purge')
        .describe()
        .catch(() => undefined),
    );
    await client.connection.close();
  });

  test('notices that the server is gone and works for one that came back with an empty database', async () => {
    const server = await serve();
    const maintenance = scriptedMaintenance({ purge: [{ deleted: { codes: 1 }, more: false }] });
    const { worker, states, reaches } = await work(server.address, { work: workOf(maintenance) });
    await reaches('polling');
    // Later where the server, which has just started, does not take the schedules in time.
    await eventually('the schedules', () => worker.state.awaySince === undefined);
    process.kill(server.pid, 'SIGKILL');
    await server.exited;
    const { reason, awaySince } = await reaches('disconnected');
    expect(reason).toBe(`Nothing answers at ${server.address}.`);
    expect(awaySince).toBeInstanceOf(Date);
    await serve({ address: server.address });
    await reaches('polling');
    expect(await purgeOnce(server.address, 'purge-after-outage')).toMatchObject({ deleted: { codes: 1 } });
    const client = await connectClient(server.address);
    await eventually('the schedule', () =>
      client.schedule
        .getHandle('purge')
        .describe()
        .catch(() => undefined),
    );
    await client.connection.close();
    // While a server begins the reason changes (no answer, then no namespace), and its first polls may fail.
    const seen = states.map(({ status }) => status).filter((status, index, all) => status !== all[index - 1]);
    const first = seen.indexOf('polling');
    expect(seen.slice(first, first + 3)).toEqual(['polling', 'disconnected', 'polling']);
  });

  test('makes its schedules again where a server lost them in an outage too short to notice', async () => {
    const { states, reaches } = await atLasting();
    await reaches('polling');
    const handles = Object.values(scheduleIds).map((id) => client.schedule.getHandle(id));
    const ofAll = (ask: (handle: ScheduleHandle) => Promise<unknown>) =>
      Promise.all(handles.map(ask)).then(
        () => true,
        () => false,
      );
    const allExist = () => ofAll((handle) => handle.describe());
    await eventually('the schedules', allExist);
    // A busy server may answer so late that it counts as gone, or that the client repeats a deletion in vain.
    await eventually('the schedules once more, without an outage', async () => {
      const seen = states.length;
      const areDeleted = await ofAll((handle) => handle.delete());
      await eventually('the schedules', allExist);
      return areDeleted && states.slice(seen).every(({ status }) => status !== 'disconnected');
    });
  });

  test('writes its schedules again after a worker of another release that ended since', async () => {
    const { log, lines } = recordingLog();
    const { worker } = await atLasting({ log, schedulesIntervalMs: 0 });
    await eventually('the schedules', () => worker.state.status === 'polling' && !worker.state.awaySince);
    await ensureSchedules(client.schedule, { ...farAway, purgeIntervalMs: 2 * FAR_AWAY_MS });
    await eventually(
      'the interval of this worker',
      async () => (await purgeIntervalOf(client)) === FAR_AWAY_MS,
    );
    const written = lines.filter(({ message }) => message === 'temporal schedules ensured');
    expect(written.every(({ fields }) => /created|updated/.test(JSON.stringify(fields)))).toBe(true);
  });

  test('does not write its schedules again at each probe', async () => {
    const { worker } = await atLasting();
    await eventually('the schedules', () => worker.state.status === 'polling' && !worker.state.awaySince);
    // A busy server may answer so late that it counts as gone, after which the worker writes them at once.
    await eventually('the interval of another release that stays', async () => {
      await ensureSchedules(client.schedule, { ...farAway, purgeIntervalMs: 2 * FAR_AWAY_MS });
      await untilProbed(client);
      return (await purgeIntervalOf(client)) === 2 * FAR_AWAY_MS;
    });
  });

  test('says once that its schedules cannot be written, and counts as away until they are', async () => {
    // A busy server may answer so late that it counts as gone, and the worker says that too.
    await eventually('a life without an outage', async () => {
      const server = await serve();
      const { log, lines } = recordingLog();
      // The server takes no interval below a second.
      const schedules = { ...farAway, purgeIntervalMs: 1 };
      const { activities, companions } = await workOf({})();
      const { worker } = await work(server.address, {
        work: async () => ({ activities, companions, schedules }),
        log,
      });
      const isRefused = ({ status, reason = '' }: WorkerState) =>
        status === 'polling' && /^The schedules could not be written: .*[Ii]nterval/.test(reason);
      const { reason, awaySince } = await eventually(
        'the refusal',
        () => isRefused(worker.state) && worker.state,
      );
      expect(awaySince).toBeInstanceOf(Date);
      schedules.purgeIntervalMs = FAR_AWAY_MS;
      const state = await eventually(
        'the schedules',
        () => worker.state.reason === undefined && worker.state,
      );
      expect([state.status, state.awaySince]).toEqual(['polling', undefined]);
      const warned = lines.filter(({ level }) => level === 'warn');
      if (warned.some(({ fields }) => fields.reason !== reason)) {
        return false;
      }
      expect(warned).toMatchObject([{ message: 'temporal worker polling', fields: { reason } }]);
      return true;
    });
  });

  test('lets a running activity finish when it is shut down', async () => {
    let finish = () => undefined as undefined;
    const maintenance = scriptedMaintenance({
      purge: [
        () =>
          new Promise((resolve) => {
            finish = () => void resolve({ deleted: { codes: 7 }, more: false }) as undefined;
          }),
      ],
    });
    const { worker, reaches } = await atLasting({
      work: workOf(maintenance),
      shutdownGraceMs: 10_000,
    });
    await reaches('polling');
    const handle = await client.workflow.start('purge', {
      taskQueue: TASK_QUEUE,
      workflowId: 'purge-graceful',
      args: [quickPurge],
    });
    await eventually('the activity under way', () => maintenance.calls.length === 1);
    const ended = worker.shutdown();
    setTimeout(finish, 300);
    await ended;

    await work(lasting.address);
    expect(await handle.result()).toMatchObject({ batches: 1, deleted: { codes: 7 } });
    expect(maintenance.calls).toHaveLength(1);
  });

  test('ends although an activity hangs and the server is gone', async () => {
    const server = await serve();
    const maintenance = scriptedMaintenance({ purge: [() => new Promise(() => undefined)] });
    const { worker, reaches } = await work(server.address, { work: workOf(maintenance) });
    await reaches('polling');
    const client = await connectClient(server.address);
    await client.workflow.start('purge', {
      taskQueue: TASK_QUEUE,
      workflowId: 'purge-hangs',
      args: [quickPurge],
    });
    await eventually('the activity under way', () => maintenance.calls.length === 1);
    await client.connection.close();
    process.kill(server.pid, 'SIGKILL');
    await server.exited;
    await worker.shutdown();
    expect(worker.state).toMatchObject({ status: 'disconnected', reason: 'The worker was shut down.' });
  });

  test('sends everything the SDK says to the log and nothing to the console', async () => {
    const { log, lines } = recordingLog();
    const written = [
      jest.spyOn(process.stdout, 'write').mockReturnValue(true),
      jest.spyOn(process.stderr, 'write').mockReturnValue(true),
    ];
    try {
      const { worker, reaches } = await atLasting({ log });
      await reaches('polling');
      await purgeOnce(lasting.address, 'purge-logged');
      await worker.shutdown();
      expect(written.flatMap((spy) => spy.mock.calls)).toEqual([]);
    } finally {
      for (const spy of written) {
        spy.mockRestore();
      }
    }
    expect(lines).toContainEqual(
      expect.objectContaining({
        message: 'Worker state changed',
        fields: expect.objectContaining({ state: 'RUNNING' }),
      }),
    );
    expect(() => JSON.stringify(lines)).not.toThrow();
  });
});
