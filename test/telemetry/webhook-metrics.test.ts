import { describe, expect, jest, test } from '@jest/globals';
import { createMetricsRegistry } from '../../src/telemetry/metrics.js';
import {
  attemptMetrics,
  deliveryEndCounter,
  type OutboxReading,
  outboxMetrics,
  relayMetrics,
} from '../../src/telemetry/webhook-metrics.js';

describe('the metrics of a worker', () => {
  test('count attempts at deliveries by type and outcome, say how many run, and stay right when asked twice', async () => {
    const registry = createMetricsRegistry('worker', '1.2.3');
    const attempts = attemptMetrics(registry);
    for (const outcome of ['SUCCEEDED', 'SUCCEEDED', 'TIMED_OUT']) {
      attempts.begun();
      attempts.ended('user.updated', outcome, 20);
    }
    attempts.begun();
    await registry.metrics();
    const text = await registry.metrics();
    const type = 'event_type="user.updated"';
    expect(text).toContain(`webhook_attempts_total{${type},outcome="SUCCEEDED",role="worker"} 2`);
    expect(text).toContain(`webhook_attempts_total{${type},outcome="TIMED_OUT",role="worker"} 1`);
    expect(text).toContain('webhook_attempts_running{role="worker"} 1');
    expect(text).toContain('webhook_attempt_duration_seconds_sum{role="worker",outcome="SUCCEEDED"} 0.04');
  });

  test('measure waits from the write of a delivery, and read slots at the time of the scrape', async () => {
    const registry = createMetricsRegistry('worker', '1.2.3');
    const relay = relayMetrics(registry);
    let free = 5;
    relay.slots(() => ({ free, total: 8 }));
    relay.begun(40);
    relay.received(2_000);
    await registry.metrics();
    free = 1;
    const text = await registry.metrics();
    for (const sample of [
      'webhook_relay_lag_seconds_sum{role="worker"} 0.04',
      'webhook_commit_to_receipt_seconds_bucket{le="2.5",role="worker"} 1',
      'webhook_slots_in_use{role="worker"} 7',
      'webhook_slots{role="worker"} 8',
    ]) {
      expect(text).toContain(sample);
    }
  });
});

describe('the metrics of what waits to be sent', () => {
  /** The clock of the database, ten minutes ahead of this machine. */
  const NOW = Date.now() + 600_000;

  function outbox(read: () => Promise<OutboxReading>) {
    const registry = createMetricsRegistry('domain', '1.2.3');
    outboxMetrics(registry, read, () => NOW);
    return registry;
  }

  test('are read once for each scrape, and are as old as the database says', async () => {
    const since = NOW - 60_000;
    const read = jest.fn(async () => ({
      counts: { first: 3, later: 1 },
      oldest: [{ stage: 'first' as const, isFailing: true, since }],
    }));
    const registry = outbox(read);
    const age =
      /^webhook_outbox_oldest_age_seconds\{attempt="first",subscription="failing",role="domain"\} (\S+)$/m;
    const first = await registry.metrics();
    expect(read).toHaveBeenCalledTimes(1);
    expect(first).toContain('webhook_outbox_deliveries{attempt="first",role="domain"} 3');
    expect(first).toContain('webhook_outbox_deliveries{attempt="later",role="domain"} 1');
    expect(first).toContain(
      'webhook_outbox_oldest_age_seconds{attempt="first",subscription="well",role="domain"} 0',
    );
    expect(age.exec(first)?.[1]).toBe('60');
    await registry.metrics();
    expect(read).toHaveBeenCalledTimes(2);
  });

  test.each([
    ['does not answer', () => new Promise<OutboxReading>(() => undefined)],
    ['refuses', async () => Promise.reject(new Error('away'))],
  ])('are left out while the database %s, and the rest is served', async (_, read) => {
    const text = await outbox(read).metrics();
    expect(text).toContain('# TYPE webhook_outbox_deliveries gauge');
    expect(text).not.toMatch(/^webhook_outbox_\w+\{/m);
    expect(text).toContain('integration_build_info{');
  });

  test('count ends by status, from 0 on', async () => {
    const registry = createMetricsRegistry('domain', '1.2.3');
    const count = deliveryEndCounter(registry);
    count('DELIVERED', 3);
    count('DELIVERED', 2);
    const text = await registry.metrics();
    expect(text).toContain('webhook_deliveries_ended_total{status="DELIVERED",role="domain"} 5');
    expect(text).toContain('webhook_deliveries_ended_total{status="EXHAUSTED",role="domain"} 0');
  });
});
