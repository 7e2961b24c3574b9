import { expect, test } from '@jest/globals';
import type { DeliveryId, SubscriptionId } from '../../../../../generated/ids.js';
import type { SendingChanges, SendingRows } from '../../../../../src/domain/webhooks/sending/sending.js';
import { sendingUnitOfWork } from '../../../../../src/store/adapters/webhooks/sending/unit-of-work.js';
import { databaseUnderTest } from '../../../../support/databases.js';
import { queryPlansOf } from '../../../query-plans.js';

const SUBSCRIPTION = 'whs_1' as SubscriptionId;
const DELIVERY = 'whd_1' as DeliveryId;

/** What reports a list that came as JSON, and of what SQLite does with rows that it has found. */
const ASIDE =
  /^(SCAN json_each|SCAN CONSTANT ROW|LIST SUBQUERY|SCALAR SUBQUERY|CORRELATED|RECURSIVE STEP|SETUP|CO-ROUTINE|MATERIALIZE|SCAN pending|USE TEMP B-TREE|CREATE BLOOM FILTER)/;

const reads: [title: string, read: (rows: SendingRows) => Promise<unknown>][] = [
  ['whether anything is due', (rows) => rows.anyDue(1)],
  ['deliveries that are retried', (rows) => rows.retried([DELIVERY])],
  ['a batch', (rows) => rows.batch('bat_1')],
  ['the deliveries of a batch', (rows) => rows.deliveriesOf('bat_1')],
];
const writes: [title: string, write: (changes: SendingChanges) => Promise<unknown>][] = [
  ['who has deliveries due', (changes) => changes.dueSubscriptions('', 5)],
  ['those who receive', (changes) => changes.receivers([SUBSCRIPTION])],
  ['first attempts that are due', (changes) => changes.dueFirst([{ id: SUBSCRIPTION, after: 0, limit: 5 }])],
  ['later attempts that are due', (changes) => changes.dueLater(SUBSCRIPTION, 5)],
  ['attempts that begin', (changes) => changes.begin([7], [8], 1)],
  ['attempts that are taken back', (changes) => changes.takeBack([7], 1)],
  ['later attempts made due', (changes) => changes.retryBatches.makeDue([DELIVERY], 2, 'now')],
  ['a batch that is handed over', (changes) => changes.retryBatches.markHandedOver(['bat_1'])],
  ['events', (changes) => changes.eventsOf([7])],
  ['deliveries', (changes) => changes.look([DELIVERY])],
  ['how receivers fare', (changes) => changes.healthOf([SUBSCRIPTION])],
  ['how an attempt ended', (changes) => changes.outcomeOf(7, 1)],
  ['deliveries that are delivered', (changes) => changes.deliver([7])],
  ['a batch that is joined', (changes) => changes.retryBatches.join(SUBSCRIPTION, 1, 5)],
  ['a subscription that is disabled', (changes) => changes.disable(SUBSCRIPTION, 'GONE')],
];

const under = databaseUnderTest('SQLite');

/** But for what is set aside, everything is found by some key of it. */
function expectSearches(plans: readonly string[]): void {
  const steps = plans.filter((plan) => !ASIDE.test(plan));
  expect(steps.length).toBeGreaterThan(0);
  expect(steps.filter((step) => !/^SEARCH .*\(.+\)/.test(step))).toEqual([]);
}

test.each(reads)('%s: nothing is looked through', async (_, read) => {
  expectSearches(await queryPlansOf(under, (database) => read(sendingUnitOfWork(database).rows)));
});

test.each(writes)('%s: nothing is looked through', async (_, write) => {
  expectSearches(await queryPlansOf(under, (database) => sendingUnitOfWork(database).run(write)));
});

test('what runs to those that fail is counted for these only', async () => {
  const plans = await queryPlansOf(under, (database) =>
    sendingUnitOfWork(database).run((changes) => changes.runningToFailing()),
  );
  expect(plans.filter((plan) => !ASIDE.test(plan))).toEqual([
    'SEARCH subscriptions USING INDEX subscriptions_failing (failing_since>?)',
    'SEARCH deliveries USING COVERING INDEX deliveries_under_way (subscription_id=? AND lease_until>?)',
  ]);
});

test('whether the clock was set back is seen by the index of what has ended, and among what runs', async () => {
  const plans = await queryPlansOf(under, (database) => sendingUnitOfWork(database).rows.anyLaterThan(1));
  expect(plans).toEqual([
    expect.stringMatching(/^SEARCH delivery_attempts USING (?:COVERING )?INDEX \w+ \(ended_at>\?\)$/),
    'SCAN deliveries USING INDEX deliveries_under_way',
  ]);
});

test('later attempts that are due are found by the index of those that wait, in its order', async () => {
  const plans = await queryPlansOf(under, (database) =>
    sendingUnitOfWork(database).run((changes) => changes.dueLater(SUBSCRIPTION, 5)),
  );
  expect(plans).toEqual(['SEARCH deliveries USING INDEX deliveries_later (subscription_id=? AND <expr><?)']);
});

test('what waits is counted in an index, and the oldest of each subscription found by it', async () => {
  const plans = await queryPlansOf(under, (database) => sendingUnitOfWork(database).rows.outbox());
  const steps = plans.filter((plan) => !ASIDE.test(plan));
  expect(steps.length).toBeGreaterThan(5);
  for (const step of steps) {
    expect(step).toMatch(/^SEARCH (?:deliveries USING (?:COVERING )?INDEX deliveries_open|subscriptions) /);
  }
});

test('leases that are over are looked for among those that run only', async () => {
  const plans = await queryPlansOf(under, async (database) => {
    const { run, rows } = sendingUnitOfWork(database);
    await rows.anyLapsed(1);
    await run((changes) => changes.lapsed(5));
  });
  expect(plans.filter((plan) => !ASIDE.test(plan))).toEqual([
    'SCAN deliveries USING COVERING INDEX deliveries_under_way',
    'SCAN deliveries USING INDEX deliveries_under_way',
  ]);
});

test('batches to hand over are looked for among those that wait only', async () => {
  const plans = await queryPlansOf(under, (database) =>
    sendingUnitOfWork(database).rows.waitingBatches(1, 5),
  );
  expect(plans).toEqual([
    'SCAN batch USING INDEX retry_batches_waiting',
    expect.stringMatching(/^SEARCH subscription USING .*\(id=\?\)$/),
  ]);
});
