import { expect, test } from '@jest/globals';
import {
  queryNames,
  signalNames,
  TASK_QUEUE,
  type WebhookRetryLimits,
  type WebhookRetryProgress,
  webhookRetryWorkflowId,
} from '../../workflows/contract.js';
import { signalled } from '../support/signalled.js';
import { describeWith } from '../support/toolchains.js';
import { RetryDomain } from './retry-domain.js';
import { eventually, impatient, quickWebhookRetry } from './temporal-fixture.js';
import { temporalRig } from './temporal-rig.js';

const HOUR = 3_600_000;

describeWith('temporal', 'what people ask of the retries', (executable) => {
  const { client, work } = temporalRig(executable);
  let batches = 0;

  /** Three deliveries that are due in an hour. */
  async function startPatient(settings: { sends?: number } = {}, limits: Partial<WebhookRetryLimits> = {}) {
    const batchId = `bat_${++batches}`;
    const domain = new RetryDomain({ delaysMs: [HOUR, HOUR], ...settings }).add(
      batchId,
      { deliveryId: 'whd_a' },
      { deliveryId: 'whd_b' },
      { deliveryId: 'whd_c' },
    );
    await work({ webhookRetries: domain.domain });
    const handle = await client().workflow.start('webhookRetry', {
      taskQueue: TASK_QUEUE,
      workflowId: webhookRetryWorkflowId('whs_1', batchId),
      args: [{ ...quickWebhookRetry, ...limits, subscriptionId: 'whs_1', batchId }],
    });
    const progress = () => handle.query<WebhookRetryProgress>(queryNames.progress);
    return { domain, handle, progress };
  }

  test('retryNow makes the next attempt at the deliveries it names, and at no other', async () => {
    const { domain, handle } = await startPatient();
    await handle.signal(signalNames.retryNow, ['whd_b', 'whd_unknown']);
    await eventually('the attempt', () => domain.sent.length > 0);
    expect(domain.attemptsAt('whd_b')).toEqual([2]);
    expect(domain.hurried).toEqual(['whd_b']);
    await handle.signal(signalNames.giveUp);
    await handle.result();
    expect(domain.sent).toHaveLength(1);
    expect(domain.statuses).toEqual({ whd_a: 'EXHAUSTED', whd_b: 'DELIVERED', whd_c: 'EXHAUSTED' });
  });

  test.each([
    { title: 'an empty list', args: [[]] },
    { title: 'no list', args: [] },
    { title: 'null', args: [null] },
  ])('retryNow with $title makes the next attempt at all', async ({ args }) => {
    const { domain, handle } = await startPatient();
    await handle.signal(signalNames.retryNow, ...args);
    expect(await handle.result()).toMatchObject({ delivered: 3 });
    expect(domain.sent).toHaveLength(3);
  });

  test('retryNow makes an attempt due while the receiver leaves another one without an answer', async () => {
    const { domain, handle } = await startPatient();
    const { told: later, tell: answer } = signalled<number>();
    domain.receiver = ({ deliveryId }) => (deliveryId === 'whd_a' ? later : 204);
    await handle.signal(signalNames.retryNow, ['whd_a']);
    await eventually('an attempt under way', () => domain.sent.length === 1);
    await handle.signal(signalNames.retryNow, ['whd_b']);
    await eventually('the other attempt', () => domain.statuses.whd_b === 'DELIVERED');
    expect(domain.statuses.whd_a).toBe('PENDING');
    answer(204);
    await handle.signal(signalNames.giveUp, ['whd_c']);
    expect(await handle.result()).toMatchObject({ delivered: 2, exhausted: 1 });
  });

  test('retryNow brings one attempt forward, not those after it', async () => {
    const { domain, handle, progress } = await startPatient();
    domain.receiver = () => 500;
    await handle.signal(signalNames.retryNow, ['whd_a']);
    await eventually('the attempt', async () => (await progress()).deliveries[0]?.attemptsBegun === 2);
    expect(domain.attemptsAt('whd_a')).toEqual([2]);
    await handle.signal(signalNames.retryNow, ['whd_a']);
    await eventually('the end', async () => (await progress()).counts.exhausted === 1);
    expect(domain.attemptsAt('whd_a')).toEqual([2, 3]);
    await handle.terminate();
  });

  test('retryNow makes the attempt due that follows one that has ended unnoticed', async () => {
    // The workflow asks about an attempt again after an hour.
    const { domain, handle } = await startPatient({}, { putOffMs: HOUR, mostWaitMs: HOUR });
    domain.receiver = async () => 500;
    await handle.signal(signalNames.retryNow, ['whd_a']);
    await eventually('the failure', () => domain.rows.get('whd_a')?.lastHttpStatus === 500);
    await handle.signal(signalNames.retryNow, ['whd_a']);
    await eventually('the end', () => domain.statuses.whd_a === 'EXHAUSTED');
    expect(domain.attemptsAt('whd_a')).toEqual([2, 3]);
    expect(domain.hurried).toEqual(['whd_a', 'whd_a']);
    await handle.terminate();
  });

  test('retryNow makes the next attempt due although the round of the one before is answered late', async () => {
    const { domain, handle, progress } = await startPatient({}, { putOffMs: HOUR, mostWaitMs: HOUR });
    const { told: known, tell: answer } = signalled();
    const { makeDue } = domain.domain;
    domain.domain.makeDue = async (...call) => {
      const states = await makeDue(...call);
      await known;
      return states;
    };
    domain.receiver = async () => 500;
    await handle.signal(signalNames.retryNow, ['whd_a']);
    await eventually('the failure', () => domain.rows.get('whd_a')?.lastHttpStatus === 500);
    await handle.signal(signalNames.retryNow, ['whd_a']);
    await eventually('its note', async () => (await progress()).deliveries[0]?.attemptsBegun === 2);
    answer();
    await eventually('the end', () => domain.statuses.whd_a === 'EXHAUSTED');
    expect(domain.attemptsAt('whd_a')).toEqual([2, 3]);
    expect(domain.hurried).toEqual(['whd_a', 'whd_a']);
    await handle.terminate();
  });

  test('retryNow is kept where its round fails just before the workflow continues as new', async () => {
    const { domain, handle } = await startPatient({}, { stepsPerRun: 1, roundTries: 1 });
    let failed = 0;
    domain.fault = (method) => {
      const isAway = method === 'makeDue' && failed < 3;
      failed += isAway ? 1 : 0;
      return isAway ? 'before' : undefined;
    };
    await handle.signal(signalNames.retryNow, ['whd_a']);
    await eventually('the attempt', () => domain.statuses.whd_a === 'DELIVERED');
    expect([failed, domain.hurried]).toEqual([3, ['whd_a']]);
    await handle.terminate();
  });

  test('giveUp ends the deliveries it names without another attempt', async () => {
    const { domain, handle, progress } = await startPatient();
    await handle.signal(signalNames.giveUp, ['whd_a', 'whd_c']);
    await eventually('the end', async () => (await progress()).counts.exhausted === 2);
    await handle.signal(signalNames.retryNow);
    expect(await handle.result()).toMatchObject({ deliveries: 3, delivered: 1, exhausted: 2 });
    expect(domain.sent).toMatchObject([{ deliveryId: 'whd_b' }]);
  });

  test('giveUp reaches the domain while a round hangs, and what the round has not begun is not sent', async () => {
    const { domain, handle } = await startPatient({ sends: 1 });
    const { told: answered, tell: answer } = signalled<number>();
    domain.receiver = () => answered;
    await handle.signal(signalNames.retryNow);
    await eventually('an attempt under way', () => domain.sent.length === 1);
    await handle.signal(signalNames.giveUp);
    await eventually('the end of the others', () => domain.isAllEnded);
    answer(204);
    expect(await handle.result()).toMatchObject({ deliveries: 3, delivered: 1, exhausted: 2 });
    expect(domain.sent).toHaveLength(1);
  });

  test.each([
    { title: 'an id without a list', args: ['whd_a'], given: { whd_a: 'EXHAUSTED' } },
    { title: 'what is no id', args: [[7, { id: 'whd_a' }]], given: {} },
    { title: 'an object', args: [{ deliveryIds: ['whd_a'] }], given: {} },
  ])('giveUp with $title does not hold the workflow up', async ({ args, given }) => {
    const { domain, handle } = await startPatient();
    await handle.signal(signalNames.giveUp, ...args);
    await handle.query(queryNames.progress);
    await eventually('what was asked for', () =>
      Object.entries(given).every(([id, status]) => domain.statuses[id] === status),
    );
    await handle.signal(signalNames.retryNow);
    await handle.result();
    const others = { whd_a: 'DELIVERED', whd_b: 'DELIVERED', whd_c: 'DELIVERED' };
    expect(domain.statuses).toEqual({ ...others, ...given });
  });

  test('a signal that comes with the start is not lost', async () => {
    const batchId = 'bat_signalled';
    const domain = new RetryDomain({ delaysMs: [HOUR, HOUR] }).add(batchId, { deliveryId: 'whd_a' });
    await work({ webhookRetries: domain.domain });
    const handle = await client().workflow.signalWithStart('webhookRetry', {
      taskQueue: TASK_QUEUE,
      workflowId: webhookRetryWorkflowId('whs_1', batchId),
      args: [{ ...quickWebhookRetry, subscriptionId: 'whs_1', batchId }],
      signal: signalNames.retryNow,
      signalArgs: [[]],
    });
    await handle.result();
    expect(domain.statuses).toEqual({ whd_a: 'DELIVERED' });
  });
});

describeWith('temporal', 'a retryNow whose attempt cannot begin', (executable) => {
  const { client, work } = temporalRig(impatient(executable));

  test('does not let the history grow without a bound', async () => {
    const domain = new RetryDomain({ delaysMs: [HOUR, HOUR], sends: 0 }).add('bat_1', {
      deliveryId: 'whd_a',
    });
    await work({ webhookRetries: domain.domain });
    const workflowId = webhookRetryWorkflowId('whs_1', 'bat_1');
    const handle = await client().workflow.start('webhookRetry', {
      taskQueue: TASK_QUEUE,
      workflowId,
      args: [{ ...quickWebhookRetry, mostWaitMs: 100, subscriptionId: 'whs_1', batchId: 'bat_1' }],
    });
    await handle.signal(signalNames.retryNow, ['whd_a']);
    const latest = client().workflow.getHandle(workflowId);
    const nextRun = async () => (await latest.describe()).runId !== handle.firstExecutionRunId;
    await eventually('the next run', nextRun);
    expect(domain.rows.get('whd_a')).toMatchObject({ status: 'PENDING', isDue: true });
    await latest.terminate();
  });
});
