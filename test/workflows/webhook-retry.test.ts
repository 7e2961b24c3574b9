import { expect, test } from '@jest/globals';
import {
  queryNames,
  type RetryCounts,
  signalNames,
  TASK_QUEUE,
  type WebhookRetryInput,
  type WebhookRetryProgress,
  webhookRetryWorkflowId,
} from '../../workflows/contract.js';
import { describeWith } from '../support/toolchains.js';
import { RetryDomain } from './retry-domain.js';
import { eventually, quickWebhookRetry } from './temporal-fixture.js';
import { temporalRig } from './temporal-rig.js';

const none: RetryCounts = { deliveries: 0, delivered: 0, exhausted: 0, held: 0, cancelled: 0, gone: 0 };
const HOUR = 3_600_000;

/** Between the plan and what it leads to, however quickly that comes. */
function beforeFirstAttempt(domain: RetryDomain, change: () => void): void {
  domain.fault = (method) => {
    if (method === 'makeDue') {
      change();
    }
    return undefined;
  };
}

describeWith('temporal', 'the retries of a batch of deliveries', (executable) => {
  const { client, work } = temporalRig(executable);
  let batches = 0;

  async function start(domain: RetryDomain, input: Partial<WebhookRetryInput> = {}) {
    await work({ webhookRetries: domain.domain });
    const batchId = input.batchId ?? `bat_${++batches}`;
    for (const row of domain.rows.values()) {
      row.batchId = batchId;
    }
    return client().workflow.start('webhookRetry', {
      taskQueue: TASK_QUEUE,
      workflowId: webhookRetryWorkflowId('whs_1', batchId),
      args: [{ ...quickWebhookRetry, subscriptionId: 'whs_1', batchId, ...input }],
    });
  }

  type Handle = Awaited<ReturnType<typeof start>>;
  const progressOf = (handle: Handle) => handle.query<WebhookRetryProgress>(queryNames.progress);

  test('makes a second and a third attempt, and none after a success or after the third', async () => {
    const domain = new RetryDomain().add(
      '',
      { deliveryId: 'soon' },
      { deliveryId: 'later' },
      { deliveryId: 'never' },
    );
    domain.receiver = ({ deliveryId, attemptNumber }) =>
      deliveryId === 'soon' || (deliveryId === 'later' && attemptNumber === 3) ? 204 : 503;
    const handle = await start(domain);
    expect(await handle.result()).toEqual({ ...none, deliveries: 3, delivered: 2, exhausted: 1 });
    expect(['soon', 'later', 'never'].map((id) => domain.attemptsAt(id))).toEqual([[2], [2, 3], [2, 3]]);
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });

  test('waits until an attempt is due and makes it under an id that leads back to the workflow', async () => {
    const domain = new RetryDomain().add('', { deliveryId: 'whd_1', nextAttemptAt: Date.now() + 700 });
    const dueAt = domain.rows.get('whd_1')?.nextAttemptAt ?? 0;
    const handle = await start(domain);
    await handle.result();
    expect(domain.sent[0]?.at).toBeGreaterThanOrEqual(dueAt);
    expect(domain.requestIds.slice(0, 3)).toEqual(
      ['plan-1', 'attempts-2', 'attempts-3'].map((step) => `${handle.workflowId}/${step}/1`),
    );
  });

  test('makes attempts that are due one after the other in one round, and none before its time', async () => {
    const now = Date.now();
    const domain = new RetryDomain();
    for (let index = 0; index < 10; index++) {
      domain.add('', { deliveryId: `whd_${index}`, nextAttemptAt: now + 1_000 + index * 20 });
    }
    const due = new Map([...domain.rows.values()].map((row) => [row.deliveryId, row.nextAttemptAt ?? 0]));
    const handle = await start(domain, { gatherLeastMs: 500 });
    await handle.result();
    for (const { deliveryId, at } of domain.sent) {
      expect(at).toBeGreaterThanOrEqual(due.get(deliveryId) ?? 0);
    }
    expect(await activityIdsOf(handle)).toEqual(['plan-1', 'attempts-2', 'attempts-3']);
  });

  async function activityIdsOf(handle: Handle) {
    const { events } = await handle.fetchHistory();
    const scheduled = events?.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    return scheduled?.map(({ activityId }) => activityId);
  }

  test('tells how far each delivery is: in its progress, its details and, at the end, its memo', async () => {
    const later = new Date(Date.now() + HOUR);
    const domain = new RetryDomain({ delaysMs: [0, HOUR] }).add(
      '',
      { deliveryId: 'whd_a' },
      { deliveryId: 'whd_b' },
      { deliveryId: 'whd_c', nextAttemptAt: later.getTime() },
    );
    domain.receiver = ({ deliveryId }) => (deliveryId === 'whd_a' ? 200 : 'timed out');
    const handle = await start(domain);
    const { deliveries } = await eventually('the round', async () => {
      const progress = await progressOf(handle);
      return progress.counts.delivered === 1 && progress;
    });
    expect(deliveries).toMatchObject([
      {
        deliveryId: 'whd_a',
        status: 'DELIVERED',
        attemptsBegun: 2,
        nextAttemptAt: null,
        lastAttempt: 'answered 200',
      },
      { deliveryId: 'whd_b', status: 'PENDING', attemptsBegun: 2, lastAttempt: 'timed out' },
      { deliveryId: 'whd_c', attemptsBegun: 1, nextAttemptAt: later.toISOString(), lastAttempt: null },
    ]);
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(currentDetails).toContain('3 deliveries: 1 delivered, 2 to go. Next attempt at ');
    expect(currentDetails).toContain('| whd_a | delivered | 2 of 3 | answered 200 |  |');
    await handle.signal(signalNames.giveUp);
    const counts = await handle.result();
    expect(counts).toEqual({ ...none, deliveries: 3, delivered: 1, exhausted: 2 });
    expect((await handle.describe()).memo).toEqual(counts);
  });

  test('keeps addresses, secrets, bodies and what receivers say out of its history', async () => {
    const domain = new RetryDomain().add('', { deliveryId: 'whd_1' });
    domain.receiver = ({ attemptNumber }) => (attemptNumber === 2 ? 500 : 204);
    const handle = await start(domain);
    await handle.result();
    const texts = JSON.stringify(await handle.fetchHistory()).replace(/"data":"([^"]*)"/g, (_, data) =>
      Buffer.from(data, 'base64').toString(),
    );
    expect(texts).toContain('answered 500');
    expect(texts).not.toMatch(/receiver\.example|secret/);
  });

  test('leaves alone what has ended already, and what is no longer there', async () => {
    const domain = new RetryDomain().add(
      '',
      { deliveryId: 'held', status: 'HELD' },
      { deliveryId: 'cancelled', status: 'CANCELLED' },
      { deliveryId: 'purged' },
    );
    beforeFirstAttempt(domain, () => domain.rows.delete('purged'));
    const handle = await start(domain);
    expect(await handle.result()).toEqual({ ...none, deliveries: 3, held: 1, cancelled: 1, gone: 1 });
    expect(domain.sent).toEqual([]);
  });

  test('completes at once where the batch is gone', async () => {
    expect(await (await start(new RetryDomain())).result()).toEqual(none);
  });

  test('learns of a subscription that was disabled meanwhile when it comes to attempt', async () => {
    const domain = new RetryDomain().add('', { deliveryId: 'whd_1' });
    beforeFirstAttempt(domain, () =>
      Object.assign(domain.rows.get('whd_1') ?? {}, { status: 'HELD', nextAttemptAt: undefined }),
    );
    const handle = await start(domain);
    expect(await handle.result()).toEqual({ ...none, deliveries: 1, held: 1 });
    expect(domain.sent).toEqual([]);
  });

  test('waits for an attempt that runs elsewhere, and makes the next one when that was lost', async () => {
    const leaseUntil = Date.now() + 600;
    const domain = new RetryDomain().add('', {
      deliveryId: 'whd_1',
      attemptsBegun: 2,
      leaseUntil,
      nextAttemptAt: undefined,
    });
    const handle = await start(domain);
    expect(await handle.result()).toEqual({ ...none, deliveries: 1, delivered: 1 });
    expect(domain.interrupted).toEqual([{ deliveryId: 'whd_1', attemptNumber: 2 }]);
    expect(domain.sent).toMatchObject([{ attemptNumber: 3 }]);
    expect(domain.sent[0]?.at).toBeGreaterThanOrEqual(leaseUntil);
  });

  test('looks what became of a third attempt that was lost, and makes no fourth', async () => {
    const leaseUntil = Date.now() + 400;
    const domain = new RetryDomain().add('', {
      deliveryId: 'whd_1',
      attemptsBegun: 3,
      leaseUntil,
      nextAttemptAt: undefined,
    });
    const handle = await start(domain);
    expect(await handle.result()).toEqual({ ...none, deliveries: 1, exhausted: 1 });
    expect(domain.sent).toEqual([]);
  });

  test('continues with the others while the domain fails at one of them', async () => {
    const domain = new RetryDomain();
    domain.add('', { deliveryId: 'broken', nextAttemptAt: Date.now() });
    domain.add('', { deliveryId: 'later', nextAttemptAt: Date.now() + HOUR });
    const { makeDue } = domain.domain;
    let isBroken = true;
    let refusals = 0;
    domain.domain.makeDue = (attempts, call) => {
      if (isBroken && attempts.some(({ deliveryId }) => deliveryId === 'broken')) {
        refusals += 1;
        return Promise.reject(new Error('13 INTERNAL: its event is lost'));
      }
      return makeDue(attempts, call);
    };
    // With a low limit on the delays, a slow Temporal would put both into one round again and again.
    const handle = await start(domain, { mostWaitMs: HOUR });
    // Only then, because two that are put off together stay together.
    await eventually('a refusal', () => refusals > 0);
    await handle.signal(signalNames.retryNow, ['later']);
    await eventually('the other', () => domain.statuses.later === 'DELIVERED');
    isBroken = false;
    await handle.signal(signalNames.retryNow);
    expect(await handle.result()).toEqual({ ...none, deliveries: 2, delivered: 2 });
  });

  test('continues as new when it grows long, with what it knows of the last attempts', async () => {
    const domain = new RetryDomain({ delaysMs: [0, 300] });
    for (let index = 0; index < 3; index++) {
      domain.add('', { deliveryId: `whd_${index}`, nextAttemptAt: Date.now() + 300 + 150 * index });
    }
    domain.receiver = ({ attemptNumber }) => (attemptNumber === 2 ? 500 : 204);
    const handle = await start(domain, { stepsPerRun: 3, gatherShare: 0, gatherLeastMs: 1 });
    expect(await handle.result()).toEqual({ ...none, deliveries: 3, delivered: 3 });
    const { runId } = await client().workflow.getHandle(handle.workflowId).describe();
    expect(runId).not.toBe(handle.firstExecutionRunId);
    expect(domain.sent).toHaveLength(6);
    const lastSteps = domain.requestIds.map((id) => Number(/-(\d+)\/1$/.exec(id)?.[1]));
    expect(lastSteps).toEqual([...lastSteps].sort((a, b) => a - b));
  });
});
