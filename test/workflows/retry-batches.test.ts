import { afterEach, expect, test } from '@jest/globals';
import type { WorkflowClient } from '@temporalio/client';
import { type WebhookRetryInput, webhookRetryWorkflowId } from '../../workflows/contract.js';
import {
  handOverRetryBatches,
  type RetryBatch,
  type RetryBatchOptions,
  startRetry,
} from '../../workflows/retry-batches.js';
import { describeWith } from '../support/toolchains.js';
import { RetryDomain } from './retry-domain.js';
import { connectClient, eventually, recordingLog, silentLog, startServer } from './temporal-fixture.js';
import { temporalRig } from './temporal-rig.js';

const SUBSCRIPTION_ID = 'whs_1';
const batchOf = (batchId: string, rest: Partial<RetryBatch> = {}): RetryBatch => ({
  batchId,
  subscriptionId: SUBSCRIPTION_ID,
  instanceIntegrationId: 'iin_1',
  eventTypes: ['user.updated', 'worker.updated'],
  address: 'https://hooks.example.com',
  reason: 'answered 503',
  deliveries: Array.from({ length: 12 }, (_, index) => `whd_${index}`),
  ...rest,
});

/** The domain's list: what is marked is not listed again. `failures` are what its next calls fail with. */
function listOf(...batches: RetryBatch[]) {
  const open = new Map(batches.map((batch) => [batch.batchId, batch]));
  const failures = { toHandOver: [] as Error[], markHandedOver: [] as Error[] };
  const asked: { limit: number; maxWaitMs: number }[] = [];
  const list: RetryBatchOptions['list'] = {
    async toHandOver(request) {
      asked.push(request);
      const failure = failures.toHandOver.shift();
      if (failure) {
        throw failure;
      }
      return [...open.values()].slice(0, request.limit);
    },
    async markHandedOver(batchIds) {
      const failure = failures.markHandedOver.shift();
      if (failure) {
        throw failure;
      }
      for (const batchId of batchIds) {
        open.delete(batchId);
      }
    },
  };
  return { list, open, asked, failures };
}

describeWith('temporal', 'the handover of failed deliveries', (executable) => {
  const { client, work } = temporalRig(executable);
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) {
      await end();
    }
  });

  function handOver(list: RetryBatchOptions['list'], by: WorkflowClient = client().workflow) {
    const stop = new AbortController();
    const { log, lines } = recordingLog();
    const start = (batch: RetryBatch) => startRetry(by, batch, stop.signal);
    const running = handOverRetryBatches({ list, start, log }, stop.signal);
    ends.push(() => {
      stop.abort();
      return running;
    });
    return { lines };
  }

  const allMarked = ({ open }: ReturnType<typeof listOf>) =>
    eventually('all are marked', () => open.size === 0);
  const handleOf = (batchId: string) =>
    client().workflow.getHandle(webhookRetryWorkflowId(SUBSCRIPTION_ID, batchId));

  test('starts a workflow that can be found by subscription, event type and integration, and marks it', async () => {
    const batches = listOf(batchOf('bat_found'), batchOf('bat_one', { deliveries: ['whd_one'] }));
    handOver(batches.list);
    await allMarked(batches);
    const found = await handleOf('bat_found').describe();
    expect(found.status.name).toBe('RUNNING');
    expect(found.typedSearchAttributes.getAll()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: { name: 'SubscriptionId', type: 'KEYWORD' }, value: 'whs_1' }),
        expect.objectContaining({ key: { name: 'InstanceIntegrationId', type: 'KEYWORD' }, value: 'iin_1' }),
        expect.objectContaining({
          key: { name: 'EventTypes', type: 'KEYWORD_LIST' },
          value: ['user.updated', 'worker.updated'],
        }),
      ]),
    );
    expect(await found.staticSummary()).toBe('12 deliveries to whs_1 (user.updated, worker.updated)');
    expect(await (await handleOf('bat_one').describe()).staticSummary()).toMatch(/^1 delivery to whs_1 /);
    await eventually('the list entry', async () => {
      const query = `SubscriptionId = 'whs_1' AND EventTypes = 'worker.updated' AND InstanceIntegrationId = 'iin_1'`;
      for await (const { workflowId } of client().workflow.list({ query })) {
        if (workflowId === 'webhook-retry/whs_1/bat_found') {
          return true;
        }
      }
      return false;
    });
  });

  test('begins the input with what people look for, and has no number in it', async () => {
    const batches = listOf(batchOf('bat_input', { eventTypes: ['a.a', 'b.b', 'c.c', 'd.d', 'e.e'] }));
    handOver(batches.list);
    await allMarked(batches);
    const { events } = await handleOf('bat_input').fetchHistory();
    const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
    const input: WebhookRetryInput = JSON.parse(Buffer.from(payload ?? []).toString());
    expect(Object.entries(input)).toEqual([
      ['address', 'https://hooks.example.com'],
      ['reason', 'answered 503'],
      ['deliveries', batchOf('bat_input').deliveries],
      ['subscriptionId', SUBSCRIPTION_ID],
      ['batchId', 'bat_input'],
    ]);
    const summary = await (await handleOf('bat_input').describe()).staticSummary();
    expect(summary).toBe('12 deliveries to whs_1 (a.a, b.b, c.c and 2 more)');
  });

  test('takes a workflow that runs already for its own, as after a mark that was lost', async () => {
    const batches = listOf(batchOf('bat_twice'));
    batches.failures.markHandedOver.push(new Error('the domain restarts'));
    const { lines } = handOver(batches.list);
    await allMarked(batches);
    await eventually('the word that it goes on', () => lines.some(({ level }) => level === 'info'));
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  test('starts no second workflow for a batch after its workflow', async () => {
    const domain = new RetryDomain().add('bat_done', { deliveryId: 'whd_done' });
    await work({ webhookRetries: domain.domain });
    const batches = listOf(batchOf('bat_done'));
    handOver(batches.list);
    await allMarked(batches);
    await handleOf('bat_done').result();
    const { runId } = await handleOf('bat_done').describe();

    const again = listOf(batchOf('bat_done'));
    handOver(again.list);
    await allMarked(again);
    expect((await handleOf('bat_done').describe()).runId).toBe(runId);
    expect(domain.attemptsAt('whd_done')).toEqual([2]);
  });

  test('continues after a domain that was away, and says so once', async () => {
    const batches = listOf(batchOf('bat_away'));
    batches.failures.toHandOver.push(...Array.from({ length: 3 }, () => new Error('14 UNAVAILABLE')));
    const { lines } = handOver(batches.list);
    await allMarked(batches);
    await eventually('the word that it goes on', () => lines.some(({ level }) => level === 'info'));
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(batches.asked[0]).toEqual({ limit: 100, maxWaitMs: 20_000 });
  });

  test('marks what it started although another start failed, and starts the rest later', async () => {
    const batches = listOf(...Array.from({ length: 20 }, (_, index) => batchOf(`bat_${index}`)));
    let starts = 0;
    // It starts nothing: each start that a busy server answers too late would be one more failure.
    const flaky: WorkflowClient = Object.create(client().workflow, {
      start: {
        value: async () => {
          starts += 1;
          if (starts === 12) {
            throw new Error('the server is busy');
          }
        },
      },
    });
    const { lines } = handOver(batches.list, flaky);
    await allMarked(batches);
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { reason: 'the server is busy' } },
    ]);
    expect(starts).toBe(21);
  });

  test('starts workflows on a server that lacks the search attributes, rather than none', async () => {
    const server = await startServer(executable, { searchAttributes: {}, log: silentLog });
    const bare = await connectClient(server.address);
    try {
      const batches = listOf(batchOf('bat_bare'));
      handOver(batches.list, bare.workflow);
      await allMarked(batches);
      const started = await bare.workflow.getHandle('webhook-retry/whs_1/bat_bare').describe();
      expect(started.typedSearchAttributes.getAll()).toEqual([]);
      expect(await started.staticSummary()).toMatch(/^12 deliveries to whs_1 /);
    } finally {
      for (const end of ends.splice(0)) {
        await end();
      }
      await bare.connection.close();
      await server.stop();
    }
  });
});
