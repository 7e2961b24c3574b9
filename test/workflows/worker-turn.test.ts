import { Metadata } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { TASK_QUEUE } from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { inspectTemporal } from '../../workflows/inspection.js';
import { startTemporalWorker, type TemporalWorker, type WorkerOptions } from '../../workflows/worker.js';
import { WorkerTurn } from '../../workflows/worker-turn.js';
import { describeWith } from '../support/toolchains.js';
import {
  connectClient,
  eventually,
  NAMESPACE,
  quickPurge,
  recordingLog,
  scriptedMaintenance,
  silentLog,
  startServer,
  temporaryFolder,
  workOf,
  writeBundle,
} from './temporal-fixture.js';

const DEPLOYMENT = 'integration';
const older = { deploymentName: DEPLOYMENT, buildId: '1.4.0' };
const newer = { deploymentName: DEPLOYMENT, buildId: '1.5.0' };
const renamed = { deploymentName: 'renamed', buildId: '1.4.0' };
/** Takes over as soon as it has polled after all others, which have ended. */
const AT_ONCE = { patience: { silentMs: 0, unknownMs: 0 } };
/** Waits for others that poll. */
const FIRST = { patience: { silentMs: 120_000, unknownMs: 0 } };

describeWith('temporal', 'the versions of workers', (executable) => {
  let files: Awaited<ReturnType<typeof temporaryFolder>>;
  let bundlePath: string;
  let server: DevServer;
  let client: Client;
  const workers: TemporalWorker[] = [];

  beforeAll(async () => {
    files = await temporaryFolder();
    bundlePath = await writeBundle(files.folder);
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
  afterAll(() => files.remove());

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

  test('are inspected: whether one polls, and whether it is the one that gets the tasks', async () => {
    const place = { address: server.address, namespace: NAMESPACE };
    const versioned = await work(older, { patience: { silentMs: 120_000, unknownMs: 120_000 } });
    const facts = () => inspectTemporal(place);
    await eventually('a poll', async () => (await facts()).lastPollAt !== undefined);
    expect((await facts()).absent).toBe('workers without a version');
    await versioned.worker.shutdown();
    await (await work(older, AT_ONCE)).says(TAKES_OVER);
    expect(await facts()).toMatchObject({ lastPollAt: expect.any(Number), absent: undefined });
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
  const PERMISSION_DENIED = 7;
  let now: number;

  beforeEach(() => {
    now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** A queue whose current version is the older one, and a worker of the newer one that has just polled. */
  function queue(currentPolledAgoSeconds: number | undefined) {
    const poller = (version: typeof old, agoSeconds: number) => ({
      deploymentOptions: { ...version, workerVersioningMode: 2 },
      lastAccessTime: { seconds: 1_000_000 - agoSeconds, nanos: 0 },
    });
    const state = {
      pollers: [poller(newer, 0)],
      changes: [] as string[],
      refusal: undefined as Error | undefined,
      unreadable: undefined as Error | undefined,
    };
    if (currentPolledAgoSeconds !== undefined) {
      state.pollers.push(poller(old, currentPolledAgoSeconds));
    }
    const workflowService = {
      describeTaskQueue: async () => {
        if (state.unreadable) {
          throw state.unreadable;
        }
        return { pollers: state.pollers, versioningInfo: { currentDeploymentVersion: old } };
      },
      setWorkerDeploymentCurrentVersion: async ({ buildId }: { buildId: string }) => {
        state.changes.push(buildId);
        if (state.refusal) {
          throw state.refusal;
        }
        return {};
      },
    };
    const call = <T>(_: unknown, request: () => Promise<T>) => request();
    const connection = { workflowService, withAbortSignal: call, withDeadline: call };
    const turn = new WorkerTurn(connection as never, {
      namespace: NAMESPACE,
      version: newer,
      log: silentLog,
    });
    return { state, check: () => turn.check(new AbortController().signal) };
  }

  test.each([
    [119, []],
    [120, ['1.5.0']],
  ])('a current version that polled %i s before it leads to %j', async (agoSeconds, changes) => {
    const { state, check } = queue(agoSeconds);
    expect(await check()).toBeUndefined();
    expect(state.changes).toEqual(changes);
  });

  test('a current version of which no poll is known has half a minute to come back', async () => {
    const { state, check } = queue(undefined);
    await check();
    now = 29_999;
    await check();
    expect(state.changes).toEqual([]);
    now = 30_000;
    await check();
    expect(state.changes).toEqual(['1.5.0']);
  });

  test('the half minute begins again where Temporal did not answer meanwhile', async () => {
    const { state, check } = queue(undefined);
    await check();
    state.unreadable = new Error('No answer.');
    await check();
    state.unreadable = undefined;
    now = 30_000;
    await check();
    expect(state.changes).toEqual([]);
    now = 60_000;
    await check();
    expect(state.changes).toEqual(['1.5.0']);
  });

  test.each([
    ['refused', new Error('There is a manager.'), 'There is a manager.'],
    ['without effect', undefined, 'its answer to the change has had no effect.'],
  ])('a change that is %s three times in a row is told', async (_, refusal, reason) => {
    const { state, check } = queue(300);
    state.refusal = refusal;
    expect([await check(), await check(), await check()]).toEqual([
      undefined,
      undefined,
      'Temporal gives its tasks to workers of version integration.1.4.0, of which none polls, and not to workers of ' +
        `version integration.1.5.0: ${reason}`,
    ]);
  });

  test('a queue that the worker may not read is told', async () => {
    const { state, check } = queue(300);
    state.unreadable = Object.assign(new Error('Request unauthorized.'), {
      ...{ code: PERMISSION_DENIED, details: 'Request unauthorized.', metadata: new Metadata() },
    });
    expect(await check()).toBe(
      'Temporal does not let this worker read who gets the tasks: Request unauthorized.',
    );
  });
});
