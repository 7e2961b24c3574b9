import { expect, test } from '@jest/globals';
import { type LogEntry, NewLogEntries } from '../../../../../src/domain/webhooks/logs/log-entries.js';
import { tailDeliveries } from '../../../../../src/domain/webhooks/logs/tail.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { logRig } from './rig.js';

describeEachDatabase('the tail of deliveries', (under) => {
  test('reports deliveries and attempts in the order of time, of those that its filter takes', async () => {
    const { rows, deliver, attempt, clock, create, subscription } = await logRig(under);
    const startedAt = clock.now();
    const other = (await create()).subscription;
    const at = (ms: number) => startedAt + ms;
    const first = await deliver({
      created_at: at(0),
      attempts_begun: 2,
      next_attempt_at: at(9_000),
      retry_batch_id: 'bat_1',
    });
    await deliver({ created_at: at(1) }, other);
    await deliver({ created_at: at(1), event_type: 'worker.updated' });
    await attempt(first, { ended_at: at(5), number: 1 });
    const second = await deliver({ created_at: at(4), status: 'HELD' });
    await attempt(first, { ended_at: at(6), number: 2, http_status: null, outcome: 'TIMED_OUT' });
    await deliver({ created_at: at(-1) });
    clock.advance(10);

    const hangUp = new AbortController();
    const filter = { subscriptionId: subscription.id, eventTypes: ['user.*'] };
    const options = {
      rows: rows.deliveryLog,
      clock: clock.now,
      signal: hangUp.signal,
      pause: async () => hangUp.abort(),
    };
    const told: unknown[] = [];
    for await (const { delivery, attempt: ended, skipped } of tailDeliveries(filter, startedAt, options)) {
      told.push([
        delivery.id,
        delivery.status,
        delivery.attemptsBegun,
        ended?.number,
        ended?.outcome,
        skipped,
      ]);
    }
    expect(told).toEqual([
      [first, 'PENDING', 0, undefined, undefined, 0],
      [second, 'HELD', 0, undefined, undefined, 0],
      [first, 'PENDING', 2, 1, 'STATUS_REFUSED', 0],
      [first, 'PENDING', 2, 2, 'TIMED_OUT', 0],
    ]);
  });

  test('reads what happened in many pages, also within one millisecond, each thing once', async () => {
    const { rows, database, clock } = await logRig(under);
    const startedAt = clock.now();
    const count = 1_100;
    await database.write(async (writer) => {
      const attempts = Array.from({ length: count }, (_, index) => ({
        ...{ delivery_seq: index >> 1, number: 1 + (index & 1), started_at: startedAt },
        ended_at: startedAt + (index % 3 === 0 ? 0 : 1),
        ...{
          outcome: 'SUCCEEDED' as const,
          duration_ms: 1,
          http_status: 200,
          message: null,
          response_start: null,
        },
      }));
      for (let from = 0; from < count; from += 275) {
        await writer
          .insertInto('delivery_attempts')
          .values(attempts.slice(from, from + 275))
          .execute();
      }
    });
    const logEntries = new NewLogEntries(rows.deliveryLog, startedAt);
    const read: LogEntry[] = [];
    for (const now of [startedAt, startedAt + 1, startedAt + 5_000, startedAt + 10_000]) {
      for await (const page of logEntries.upTo(now)) {
        read.push(...page);
      }
    }
    expect(read).toHaveLength(count);
    expect(
      new Set(read.map(({ deliverySeq, attemptNumber }) => `${deliverySeq} ${attemptNumber}`)).size,
    ).toBe(count);
    expect(read.map(({ at }) => at)).toEqual(read.map(({ at }) => at).sort((a, b) => a - b));
    await expect(rows.deliveryLog.findAll(read.map(({ deliverySeq }) => deliverySeq))).resolves.toEqual(
      new Map(),
    );
    const attempts = await rows.deliveryLog.attemptsOfAll([
      ...new Set(read.map(({ deliverySeq }) => deliverySeq)),
    ]);
    expect(attempts.size).toBe(count / 2);
    expect([...attempts.values()].every(({ length }) => length === 2)).toBe(true);
  });
});
