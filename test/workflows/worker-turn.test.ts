import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { TASK_QUEUE } from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { inspectTemporal } from '../../workflows/inspection.js';
import { ensureSchedules } from '../../workflows/schedules.js';
import { startTemporalWorker, type TemporalWorker, type WorkerOptions } from '../../workflows/worker.js';
import { WorkerTurn } from '../../workflows/worker-turn.js';
import { patiently } from '../support/eventually.js';
import { describeWith } from '../support/toolchains.js';
import {
  connectClient,
  eventually,
  FAR_AWAY_MS,
  farAway,
  NAMESPACE,
  purgeIntervalOf,
  quickPurge,
  recordingLog,
  scriptedMaintenance,
  silentLog,
  startServer,
  untilProbed,
  workOf,
  writeBundle,
} from './temporal-fixture.js';

const DEPLOYMENT = 'integration';
const older = { deploymentName: DEPLOYMENT, buildId: '1.4.0' };
const newer = { deploymentName: DEPLOYMENT, buildId: '1.5.0' };
const renamed = { deploymentName: 'renamed', buildId: '1.4.0' };
/** Takes over as soon as it has polled after all others, which have ended. */
const AT_ONCE = { patience: { silentMs: 0, unknownMs: 0, unservedMs: 0 } };
/** Waits for others that poll. */
const FIRST = { patience: { silentMs: 120_000, unknownMs: 0, unservedMs: 120_000 } };
/** Waits for others that may come. */
const LATER = { patience: { silentMs: 120_000, unknownMs: 120_000, unservedMs: 120_000 } };

describeWith('temporal', 'the versions of workers', (executable) => {
  let bundlePath: string;
  let server: DevServer;
  let client: Client;
  const workers: TemporalWorker[] = [];

  beforeAll(async () => {
    bundlePath = await writeBundle();
  });
  beforeEach(async () => {
    server = await startServer(executable);
    client = await connectClient(server.address);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.shutdown()));
    await client.connection.close();
    await server.stop();
  });

  async function work(version: WorkerOptions['version'], options: Partial<WorkerOptions> = {}) {
    const { log, lines } = recordingLog();
    const worker = await startTemporalWorker({
      address: server.address,
      namespace: NAMESPACE,
      version,
      work: workOf(scriptedMaintenance({ purge: [{ deleted: { codes: 1 }, more: false }] })),
      log,
      shutdownGraceMs: 1_000,
      probeIntervalMs: 100,
      bundlePath,
      ...options,
    });
    workers.push(worker);
    const says = (message: string) =>
      eventually(message, () => lines.find((line) => line.message === message)?.fields);
    return { worker, says };
  }
  const TAKES_OVER = 'temporal gives its tasks to this version';
  const WAITS = 'temporal worker waits until workers of another version have ended';

  const startPurge = (workflowId: string) =>
    client.workflow.start('purge', {
      taskQueue: TASK_QUEUE,
      workflowId,
      args: [quickPurge],
    });

  /** Refused while Temporal lists the polls of a version that it does not know yet. */
  const changed = (change: () => Promise<unknown>) => patiently('the change', change);

  /** The version that ended the workflow. */
  async function versionThatRan(handle: WorkflowHandle) {
    await handle.result();
    const { raw } = await handle.describe();
    const { buildId } = raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion ?? {};
    return buildId ?? 'none';
  }

  test('get the tasks one at a time: the next takes over when the one before has ended, also on the way back', async () => {
    const first = await work(older, FIRST);
    await first.says(TAKES_OVER);

    const early = await work(newer, FIRST);
    expect(await early.says(WAITS)).toEqual({
      own: 'workers of version integration.1.5.0',
      current: 'workers of version integration.1.4.0',
    });
    expect(early.worker.state).toMatchObject({ status: 'polling' });
    expect(early.worker.state.reason).toBeUndefined();
    expect(await versionThatRan(await startPurge('beside'))).toBe('1.4.0');

    await first.worker.shutdown();
    const waiting = await startPurge('left-behind');
    const late = await work(newer, AT_ONCE);
    await late.says(TAKES_OVER);
    expect(await versionThatRan(waiting)).toBe('1.5.0');

    await Promise.all([early.worker.shutdown(), late.worker.shutdown()]);
    const back = await work(older, AT_ONCE);
    await back.says(TAKES_OVER);
    expect(await versionThatRan(await startPurge('on-the-way-back'))).toBe('1.4.0');
  });

  test('that get the tasks later put right the schedules that others have written meanwhile', async () => {
    const first = await work(older, FIRST);
    await first.says(TAKES_OVER);
    const next = await work(newer, FIRST);
    await next.says(WAITS);
    await ensureSchedules(client.schedule, { ...farAway, purgeIntervalMs: 2 * FAR_AWAY_MS });
    const { workflowService } = client.connection;
    await changed(() =>
      workflowService.setWorkerDeploymentCurrentVersion({ namespace: NAMESPACE, ...newer }),
    );
    await next.says(TAKES_OVER);
    await eventually(
      'the interval of the version with the tasks',
      async () => (await purgeIntervalOf(client)) === FAR_AWAY_MS,
    );
  });

  test('that wait do not write the schedules again, however long ago they were written', async () => {
    const first = await work(older, FIRST);
    await first.says(TAKES_OVER);
    const next = await work(newer, { ...FIRST, schedulesIntervalMs: 0 });
    await next.says(WAITS);
    // Then only the one that waits makes the probes.
    await first.worker.shutdown();
    // A busy server may answer so late that it counts as gone, after which the worker writes them at once.
    await eventually('the interval of another release that stays', async () => {
      await ensureSchedules(client.schedule, { ...farAway, purgeIntervalMs: 2 * FAR_AWAY_MS });
      await untilProbed(client);
      return (await purgeIntervalOf(client)) === 2 * FAR_AWAY_MS;
    });
    expect(next.worker.state.status).toBe('polling');
  });

  test('do not take tasks from workers without a version that poll, and follow them when they have ended', async () => {
    const plain = await work(undefined);
    await eventually('polls', () => plain.worker.state.status === 'polling');
    expect(await versionThatRan(await startPurge('plain'))).toBe('none');
    const versioned = await work(older, FIRST);
    await versioned.says(WAITS);
    await plain.worker.shutdown();
    const next = await work(older, AT_ONCE);
    await next.says(TAKES_OVER);
    expect(await versionThatRan(await startPurge('versioned'))).toBe('1.4.0');
  });

  test('give the tasks back to workers without a version', async () => {
    const versioned = await work(older, FIRST);
    await versioned.says(TAKES_OVER);
    await versioned.worker.shutdown();
    const plain = await work(undefined, AT_ONCE);
    await plain.says(TAKES_OVER);
    expect(await versionThatRan(await startPurge('plain-again'))).toBe('none');
  });

  test('follow each other under another name of the deployment, and under the first one again', async () => {
    for (const version of [older, renamed, older]) {
      const { worker, says } = await work(version, AT_ONCE);
      expect(await says(TAKES_OVER)).toMatchObject({
        current: `workers of version ${version.deploymentName}.1.4.0`,
      });
      const handle = await startPurge(`as-${version.deploymentName}-${workers.length}`);
      expect(await versionThatRan(handle)).toBe('1.4.0');
      await worker.shutdown();
    }
  });

  test('are inspected: whether one polls, and which ones get no tasks', async () => {
    const place = { address: server.address, namespace: NAMESPACE };
    const versioned = await work(older, LATER);
    const facts = () =>
      eventually('an answer in time', async () => {
        const found = await inspectTemporal(place);
        return found.problem === undefined && found;
      });
    await eventually('a poll', async () => (await facts()).lastPollAt !== undefined);
    expect((await facts()).idle).toBe(
      'the tasks go to workers without a version, of which none has polled in the last minutes',
    );
    await versioned.worker.shutdown();
    await (await work(older, AT_ONCE)).says(TAKES_OVER);
    expect(await facts()).toMatchObject({ lastPollAt: expect.any(Number), idle: undefined });
    await (await work(newer, FIRST)).says(WAITS);
    expect((await facts()).idle).toBe(
      'workers of version integration.1.5.0 get no tasks until workers of version integration.1.4.0 have ended',
    );
    const { workflowService } = client.connection;
    const share = { namespace: NAMESPACE, ...newer, percentage: 10 };
    await changed(() => workflowService.setWorkerDeploymentRampingVersion(share));
    await eventually(
      'no complaint of a version with a share',
      async () => (await facts()).idle === undefined,
    );
    await (await work(renamed, FIRST)).says(WAITS);
    expect((await facts()).idle).toBe(
      `workers of version ${renamed.deploymentName}.${renamed.buildId} get no tasks until workers of version integration.1.4.0 have ended`,
    );
  });

  test('that Temporal does not give the tasks to say so, and count as away', async () => {
    const versioned = await work(older, FIRST);
    await versioned.says(TAKES_OVER);
    const { workflowService } = client.connection;
    await workflowService.setWorkerDeploymentManager({
      namespace: NAMESPACE,
      deploymentName: DEPLOYMENT,
      managerIdentity: 'controller',
      identity: 'controller',
    });
    await versioned.worker.shutdown();
    const refused = await work(newer, AT_ONCE);
    const { awaySince, reason } = await eventually(
      'the reason',
      () => /manager/i.test(refused.worker.state.reason ?? '') && refused.worker.state,
    );
    expect(reason).toMatch(
      /^Temporal gives its tasks to workers of version integration\.1\.4\.0, of which none polls, and not to workers of version integration\.1\.5\.0: /,
    );
    expect(awaySince).toBeInstanceOf(Date);
  });
});

describe('the turn of a version, in checks of a queue', () => {
  const old = { deploymentName: DEPLOYMENT, buildId: '1.4.0' };
  const other = { deploymentName: 'other', buildId: '1.4.0' };
  const NOT_GIVEN =
    'Temporal gives its tasks to workers of version integration.1.4.0, of which none polls, and not to workers of ' +
    'version integration.1.5.0: ';
  let now: number;

  beforeEach(() => {
    now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const poller = (of: typeof old, agoSeconds: number) => ({
    deploymentOptions: { ...of, workerVersioningMode: 2 },
    lastAccessTime: { seconds: 1_000_000 - agoSeconds, nanos: 0 },
  });

  const refuse = (reason: string) => () => {
    throw new Error(reason);
  };

  /** A queue whose current version is the older one, and a worker of the newer one that has just polled. */
  function queue(
    currentPolledAgoSeconds: number | undefined,
    current = old,
    worker: Pick<WorkerOptions, 'version'> = { version: newer },
  ) {
    const theirs = currentPolledAgoSeconds === undefined ? [] : [poller(current, currentPolledAgoSeconds)];
    const state = {
      pollers: [poller(newer, 0), ...theirs],
      changes: [] as string[],
      onChange: (_: string): unknown => undefined,
      /** How many of the next questions fail. */
      unread: 0,
    };
    const workflowService = {
      describeTaskQueue: async () => {
        if (state.unread > 0) {
          state.unread -= 1;
          throw new Error('No answer.');
        }
        return { pollers: state.pollers, versioningInfo: { currentDeploymentVersion: current } };
      },
      setWorkerDeploymentCurrentVersion: async ({ deploymentName, buildId }: typeof old) => {
        state.changes.push(`${deploymentName}.${buildId}`);
        state.onChange(deploymentName);
        return {};
      },
    };
    const call = <T>(_: unknown, request: () => Promise<T>) => request();
    const connection = { workflowService, withAbortSignal: call, withDeadline: call };
    const turn = new WorkerTurn(connection as never, { namespace: NAMESPACE, log: silentLog, ...worker });
    const over = new AbortController();
    const checkAt = (ms: number) => {
      now = ms;
      return turn.check(over.signal);
    };
    return { state, over, checkAt };
  }

  test.each([
    [119, []],
    [120, ['integration.1.5.0']],
  ])('a current version that polled %i s before it leads to %j', async (agoSeconds, changes) => {
    const { state, checkAt } = queue(agoSeconds);
    expect(await checkAt(0)).toBeUndefined();
    expect(state.changes).toEqual(changes);
  });

  test('a current version of which no poll is known has a minute and a quarter to come back', async () => {
    const { state, checkAt } = queue(undefined);
    await checkAt(0);
    await checkAt(74_999);
    expect(state.changes).toEqual([]);
    await checkAt(75_000);
    expect(state.changes).toEqual(['integration.1.5.0']);
  });

  test.each([
    ['goes on after one failed question', 1, ['integration.1.5.0']],
    ['begins again after two in a row', 2, []],
  ])('the wait %s', async (_, failed, changes) => {
    const { state, checkAt } = queue(undefined);
    await checkAt(0);
    state.unread = failed;
    await checkAt(5_000);
    await checkAt(75_000);
    expect(state.changes).toEqual(changes);
    await checkAt(150_000);
    expect(state.changes).toContain('integration.1.5.0');
  });

  test('the wait begins again where Temporal no longer knew the polls of this worker either', async () => {
    const { state, checkAt } = queue(undefined);
    const { pollers } = state;
    await checkAt(0);
    state.pollers = [];
    await checkAt(5_000);
    state.pollers = pollers;
    await checkAt(75_000);
    expect(state.changes).toEqual([]);
    await checkAt(150_000);
    expect(state.changes).toEqual(['integration.1.5.0']);
  });

  test('a deployment of another name is left after the change, unless the worker ends', async () => {
    const { state, over, checkAt } = queue(300, other);
    await checkAt(0);
    expect(state.changes).toEqual(['integration.1.5.0', 'other.']);
    state.onChange = () => over.abort();
    await checkAt(5_000);
    expect(state.changes).toEqual(['integration.1.5.0', 'other.', 'integration.1.5.0']);
  });

  test.each<[string, Partial<ReturnType<typeof queue>['state']>, string]>([
    ['refuses the change', { onChange: refuse('There is a manager.') }, `${NOT_GIVEN}There is a manager.`],
    [
      'does not answer the change',
      { onChange: refuse('4 DEADLINE_EXCEEDED: Deadline exceeded after 10.003s') },
      `${NOT_GIVEN}Temporal did not answer in time.`,
    ],
    [
      'ends the change itself when its time is over',
      { onChange: refuse('1 CANCELLED: Call cancelled') },
      `${NOT_GIVEN}Temporal did not answer in time.`,
    ],
    [
      'accepts the change without effect',
      {},
      `${NOT_GIVEN}the change that it accepted has had no effect yet.`,
    ],
    [
      'does not say who gets the tasks',
      { unread: Number.POSITIVE_INFINITY },
      'Temporal does not say who gets its tasks: No answer.',
    ],
    [
      'does not list the polls of the worker',
      { pollers: [] },
      'Temporal does not list the polls of this worker.',
    ],
    [
      'has only just said that none of the others polls',
      { pollers: [poller(newer, 0)], unread: 2 },
      `${NOT_GIVEN}this worker waits for them.`,
    ],
  ])('a Temporal that %s is told after four minutes and a quarter', async (_, given, reason) => {
    const { state, checkAt } = queue(300);
    Object.assign(state, given);
    expect(await checkAt(0)).toBeUndefined();
    expect(await checkAt(254_999)).toBeUndefined();
    expect(await checkAt(255_000)).toBe(reason);
  });

  test('the four minutes and a quarter begin when tasks were last given to workers that poll', async () => {
    const { state, checkAt } = queue(0);
    await checkAt(200_000);
    state.pollers = [];
    expect(await checkAt(454_999)).toBeUndefined();
    expect(await checkAt(455_000)).toBe('Temporal does not list the polls of this worker.');
  });

  test('a worker without a version need not be allowed to read who gets the tasks', async () => {
    const { state, checkAt } = queue(300, old, {});
    state.unread = Number.POSITIVE_INFINITY;
    expect(await checkAt(255_000)).toBeUndefined();
  });

  test('a second deployment whose change is refused is told', async () => {
    const { state, checkAt } = queue(300, other);
    state.onChange = (deployment) => deployment === 'other' && refuse('There is a manager.')();
    expect(await checkAt(255_000)).toMatch(/ other\.1\.4\.0, of which none polls, .*: There is a manager\.$/);
  });
});
