import path from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TASK_QUEUE, webhookRetryWorkflowId } from '../../workflows/contract.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';
import { RetryDomain } from './retry-domain.js';
import { connectClient, eventually, freePort, quickWebhookRetry, startServer } from './temporal-fixture.js';
import { temporalRig } from './temporal-rig.js';

const LONG_LEASE = 60_000;
const input = { ...quickWebhookRetry, subscriptionId: 'whs_1' };

/** Deliveries that are due at once, in the batch of this name. */
function domainWith(batchId: string, count: number, leaseMs: number, sends = 1_000): RetryDomain {
  const domain = new RetryDomain({ leaseMs, sends });
  for (let index = 0; index < count; index++) {
    domain.add(batchId, { deliveryId: `whd_${index}`, nextAttemptAt: Date.now() });
  }
  return domain;
}

/** No attempt was made twice, and none was a first or a fourth. */
function expectEachAttemptOnce(domain: RetryDomain): void {
  for (const deliveryId of domain.rows.keys()) {
    const numbers = domain.attemptsAt(deliveryId);
    expect(numbers).toEqual([...new Set(numbers)].sort());
    expect([2, 3]).toEqual(expect.arrayContaining(numbers));
  }
}

/** Attempts stay under way until they are let go. */
function hold(domain: RetryDomain) {
  const held: (() => void)[] = [];
  domain.receiver = () =>
    new Promise((resolve) => {
      held.push(() => resolve(204));
    });
  return () => {
    domain.receiver = () => 204;
    for (const letGo of held) {
      letGo();
    }
  };
}

describeWith('temporal', 'the retries of a worker', (executable) => {
  const { client, workAlone } = temporalRig(executable);
  const start = (batchId: string) =>
    client().workflow.start('webhookRetry', {
      taskQueue: TASK_QUEUE,
      workflowId: webhookRetryWorkflowId('whs_1', batchId),
      args: [{ ...input, batchId }],
    });

  test('that is lost in the middle of a round are taken up by another, with the attempts after the lost ones', async () => {
    const domain = domainWith('bat_lost', 3, LONG_LEASE, 2);
    domain.receiver = () => new Promise(() => undefined);
    const lost = await workAlone({ webhookRetries: domain.domain }, { shutdownGraceMs: 1 });
    const handle = await start('bat_lost');
    await eventually('two attempts under way', () => domain.sent.length === 2);
    await lost.shutdown();
    domain.receiver = () => 204;
    domain.endLeases();
    await workAlone({ webhookRetries: domain.domain });
    expect(await handle.result()).toMatchObject({ delivered: 3 });
    expect(domain.interrupted).toHaveLength(2);
    expect(['whd_0', 'whd_1', 'whd_2'].map((id) => domain.attemptsAt(id))).toEqual([[2, 3], [2, 3], [2]]);
  });

  test('that ends while attempts are under way are taken up by the next one, which learns how they ended', async () => {
    const domain = domainWith('bat_ending', 5, LONG_LEASE, 2);
    const letGo = hold(domain);
    const worker = await workAlone({ webhookRetries: domain.domain });
    const handle = await start('bat_ending');
    await eventually('two attempts under way', () => domain.sent.length === 2);
    await worker.shutdown();
    expect(domain.sent).toHaveLength(2);
    letGo();
    await workAlone({ webhookRetries: domain.domain });
    expect(await handle.result()).toMatchObject({ delivered: 5 });
    expect(domain.sent).toHaveLength(5);
    expect(domain.interrupted).toEqual([]);
  });

  test('let an attempt under way end although its workflow is cancelled', async () => {
    const domain = domainWith('bat_cancelled', 3, LONG_LEASE, 2);
    const letGo = hold(domain);
    await workAlone({ webhookRetries: domain.domain });
    const handle = await start('bat_cancelled');
    await eventually('two attempts under way', () => domain.sent.length === 2);
    await handle.cancel();
    await eventually(
      'the end of the workflow',
      async () => (await handle.describe()).status.name !== 'RUNNING',
    );
    letGo();
    await eventually(
      'the records',
      () => domain.statuses.whd_0 === 'DELIVERED' && domain.statuses.whd_1 === 'DELIVERED',
    );
    expect((await handle.describe()).status.name).toBe('CANCELLED');
  });

  test.each([1, 2])('bring every delivery to its end past faults of all kinds (seed %i)', async (seed) => {
    const domain = domainWith(`bat_${seed}`, 30, 1_000, 8);
    const none = [undefined, undefined, undefined, undefined, undefined, undefined];
    const faults = fc.sample(fc.constantFrom('before' as const, 'after' as const, ...none), {
      seed,
      numRuns: 5_000,
    });
    const answers = fc.sample(fc.constantFrom(204, 204, 500, 'timed out' as const), { seed, numRuns: 1_000 });
    let calls = 0;
    domain.fault = () => faults[calls++ % faults.length];
    domain.receiver = () => answers[domain.sent.length % answers.length] ?? 204;
    await workAlone({ webhookRetries: domain.domain });
    const counts = await (await start(`bat_${seed}`)).result();
    expect(domain.isAllEnded).toBe(true);
    expect(counts).toMatchObject({ deliveries: 30, held: 0, cancelled: 0, gone: 0 });
    expectEachAttemptOnce(domain);
  });

  test('continue where they were when Temporal was killed and comes back', async () => {
    const databaseFile = path.join(newTemporaryDirectory(), 'temporal.db');
    const address = `127.0.0.1:${await freePort()}`;
    const domain = domainWith('bat_killed', 20, LONG_LEASE);
    domain.receiver = ({ attemptNumber }) => (attemptNumber === 2 ? 500 : 204);
    let server = await startServer(executable, { address, databaseFile });
    const own = await connectClient(address);
    const worker = await workAlone(
      { webhookRetries: domain.domain },
      { address, probeIntervalMs: 100, backoff: { firstDelayMs: 50, maxDelayMs: 200 } },
    );
    const handle = await own.workflow.start('webhookRetry', {
      taskQueue: TASK_QUEUE,
      workflowId: webhookRetryWorkflowId('whs_1', 'bat_killed'),
      args: [{ ...input, batchId: 'bat_killed' }],
    });
    await eventually('attempts', () => domain.sent.length >= 5);
    process.kill(server.pid, 'SIGKILL');
    await server.exited;
    server = await startServer(executable, { address, databaseFile });
    await eventually('the end', () => domain.isAllEnded);
    expect(await handle.result()).toMatchObject({ delivered: 20 });
    expectEachAttemptOnce(domain);
    await worker.shutdown();
    await own.connection.close();
    await server.stop();
  });
});
