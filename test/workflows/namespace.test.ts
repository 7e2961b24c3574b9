import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { searchAttributes } from '../../workflows/contract.js';
import { inspectTemporal } from '../../workflows/inspection.js';
import { addSearchAttributes } from '../../workflows/namespace.js';
import { startTemporalWorker, type TemporalWorker } from '../../workflows/worker.js';
import { describeWith } from '../support/toolchains.js';
import { eventually, NAMESPACE, recordingLog, startServer, workOf, writeBundle } from './temporal-fixture.js';

describeWith('temporal', 'a server set up by others', (executable) => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let bundlePath: string;
  const workers: TemporalWorker[] = [];

  beforeAll(async () => {
    [server, bundlePath] = await Promise.all([
      startServer(executable, { searchAttributes: {} }),
      writeBundle(),
    ]);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.shutdown()));
  });
  afterAll(async () => {
    await server?.stop();
  });

  async function work(inNamespace = NAMESPACE) {
    const { log, lines } = recordingLog();
    const worker = await startTemporalWorker({
      address: server.address,
      namespace: inNamespace,
      work: workOf({}),
      log,
      probeIntervalMs: 50,
      bundlePath,
    });
    workers.push(worker);
    return { worker, lines };
  }

  test('is inspected with its shortcomings, and without it is named', async () => {
    const { address } = server;
    // A busy server may take longer to answer than an inspection waits.
    const facts = await eventually('an answer of Temporal', async () => {
      const answered = await inspectTemporal({ address, namespace: NAMESPACE });
      return answered.problem === undefined && answered;
    });
    expect(facts).toMatchObject({
      shortcoming: expect.stringMatching(/lacks the search attributes SubscriptionId, EventTypes/),
      schedules: ['the schedule purge does not exist', 'the schedule signing-key-rotation does not exist'],
    });
    await eventually('the problem', async () => {
      const { problem, ...rest } = await inspectTemporal({ address, namespace: 'not-there' });
      expect(rest).toEqual({ schedules: [] });
      return problem?.includes('has no namespace "not-there"');
    });
    expect(await inspectTemporal({ address: '127.0.0.1:1', namespace: NAMESPACE })).toEqual({
      problem: expect.any(String),
      schedules: [],
    });
  });

  test('is said to lack the namespace, and how to make it', async () => {
    const { worker } = await work('not-there');
    // A busy server may at first not answer at all.
    await eventually('the reason', () => worker.state.reason?.includes('has no namespace'));
    expect(worker.state.status).toBe('disconnected');
    expect(worker.state.reason).toBe(
      `Temporal at ${server.address} has no namespace "not-there": make it with ` +
        '`temporal operator namespace create --namespace not-there`, or set TEMPORAL_NAMESPACE to one that it has.',
    );
  });

  test('is said to lack search attributes, and how to add them, while the worker polls, until it has them', async () => {
    const { worker, lines } = await work();
    const { reason } = await eventually(
      'the shortcoming',
      () => worker.state.status === 'polling' && worker.state.reason?.includes('lacks') && worker.state,
    );
    expect(reason).toBe(
      `The namespace "${NAMESPACE}" at ${server.address} lacks the search attributes ` +
        'SubscriptionId, EventTypes, InstanceIntegrationId: add them with ' +
        `\`temporal operator search-attribute create --namespace ${NAMESPACE} --name SubscriptionId --type Keyword ` +
        '--name EventTypes --type KeywordList --name InstanceIntegrationId --type Keyword`.',
    );
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'temporal worker polling' }),
    );

    const connection = await Connection.connect({ address: server.address });
    await addSearchAttributes(connection, NAMESPACE, searchAttributes);
    await connection.close();
    await eventually(
      'the end of the shortcoming',
      () => worker.state.status === 'polling' && worker.state.reason === undefined,
    );
  });
});
