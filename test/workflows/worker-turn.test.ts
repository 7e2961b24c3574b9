import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { TASK_QUEUE, workflowTypes } from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { inspectTemporal } from '../../workflows/inspection.js';
import { startTemporalWorker, type TemporalWorker, type WorkerOptions } from '../../workflows/worker.js';
import { describeWith } from '../support/toolchains.js';
import {
  connectClient,
  eventually,
  NAMESPACE,
  quickPurge,
  recordingLog,
  scriptedMaintenance,
  startServer,
  temporaryFolder,
  workOf,
  writeBundle,
} from './temporal-fixture.js';

const DEPLOYMENT = 'integration';
const older = { deploymentName: DEPLOYMENT, buildId: '1.4.0' };
const newer = { deploymentName: DEPLOYMENT, buildId: '1.5.0' };
/** Takes over as soon as it has polled after all others, which have ended. */
const AT_ONCE = { silentAfterMs: 0 };

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
    client.workflow.start(workflowTypes.purge, {
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
    const first = await work(older);
    expect(await first.says(TAKES_OVER)).toEqual({
      to: 'workers of version integration.1.4.0',
      before: 'workers without a version',
    });

    const early = await work(newer);
    expect(await early.says(WAITS)).toEqual({
      waiting: 'workers of version integration.1.5.0',
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
    const versioned = await work(older);
    await versioned.says(WAITS);
    await plain.worker.shutdown();
    const next = await work(older, AT_ONCE);
    await next.says(TAKES_OVER);
    expect(await versionThatRan(await startPurge('versioned'))).toBe('1.4.0');
  });

  test('give the tasks back to workers without a version', async () => {
    const versioned = await work(older);
    await versioned.says(TAKES_OVER);
    await versioned.worker.shutdown();
    const plain = await work(undefined, AT_ONCE);
    expect(await plain.says(TAKES_OVER)).toEqual({
      to: 'workers without a version',
      before: 'workers of version integration.1.4.0',
    });
    expect(await versionThatRan(await startPurge('plain-again'))).toBe('none');
  });

  test('are inspected by the last poll of the version that gets the tasks', async () => {
    const versioned = await work(older);
    await versioned.says(TAKES_OVER);
    const place = { address: server.address, namespace: NAMESPACE };
    await eventually('a poll of the version', async () => {
      const { version, lastPollAt } = await inspectTemporal(place);
      return version === 'integration.1.4.0' && lastPollAt !== undefined;
    });
  });

  test('that Temporal does not give the tasks to say so, and count as away', async () => {
    const versioned = await work(older);
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
      () => refused.worker.state.reason !== undefined && refused.worker.state,
    );
    expect(reason).toMatch(
      /^Temporal gives its tasks to workers of version integration\.1\.4\.0, of which none polls, and does not give them to workers of version integration\.1\.5\.0: /,
    );
    expect(awaySince).toBeInstanceOf(Date);
  });
});
