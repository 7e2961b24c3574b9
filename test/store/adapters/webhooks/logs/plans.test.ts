import { describe, expect, test } from '@jest/globals';
import type { EventId, SubscriptionId } from '../../../../../generated/ids.js';
import type { OperatorChanges } from '../../../../../src/domain/operator/unit-of-work.js';
import { inNameOf } from '../../../../../src/domain/unit-of-work.js';
import type { DeliveryFilter } from '../../../../../src/domain/webhooks/logs/deliveries.js';
import type { EventFilter } from '../../../../../src/domain/webhooks/logs/events.js';
import { operatorUnitOfWork } from '../../../../../src/store/adapters/operator/unit-of-work.js';
import { databaseUnderTest } from '../../../../support/databases.js';
import { queryPlansOf } from '../../../query-plans.js';
import { OPERATOR } from '../../operator/rig.js';

const after = { createdAt: 1, seq: 1 };
const span = { from: 1, to: 2 };
const EVENT_IDS = ['evt_1', 'evt_2'] as EventId[];
const DELIVERY_SEQS = [1];
const SUBSCRIPTION_ID = 'whs_1' as SubscriptionId;

type Use = (changes: OperatorChanges) => Promise<unknown>;

const deliveries =
  (filter: Partial<DeliveryFilter>): Use =>
  ({ deliveryLog }) =>
    deliveryLog.page({ after, limit: 50 }, { eventTypes: ['user.*'], statuses: ['HELD'], ...filter });

const events =
  (filter: Partial<EventFilter>): Use =>
  ({ eventLog }) =>
    eventLog.page(
      { after, limit: 50 },
      { eventTypes: ['user.*'], instanceId: 'i', entityId: 'e', ...filter },
    );

const uses: [title: string, use: Use, plan: RegExp][] = [
  [
    'a page of all deliveries',
    deliveries({}),
    /^SEARCH deliveries USING INDEX deliveries_by_age \(\(created_at,place\)<\(\?,\?\)\)$/,
  ],
  [
    'a page of the deliveries of a time',
    deliveries({ since: 1, until: 2 }),
    /deliveries_by_age \(\(created_at,place\)>\(\?,\?\) AND \(created_at,place\)<\(\?,\?\)\)$/,
  ],
  [
    'a page of the deliveries to a subscription',
    deliveries({ subscriptionId: SUBSCRIPTION_ID, since: 1 }),
    /^SEARCH deliveries USING INDEX deliveries_by_subscription \(subscription_id=\? AND \(created_at,place\)>\(\?,\?\) AND \(created_at,place\)<\(\?,\?\)\)$/,
  ],
  [
    'a page of the deliveries of an event',
    deliveries({ eventId: 'evt_1' }),
    /^SEARCH deliveries USING INDEX deliveries_by_event \(event_seq=\?\)$/,
  ],
  [
    'a page of all events',
    events({}),
    /^SEARCH events USING INDEX events_by_age \(\(occurred_at,place\)<\(\?,\?\)\)$/,
  ],
  [
    'a page of the events of a time',
    events({ since: 1, until: 2 }),
    /events_by_age \(\(occurred_at,place\)>\(\?,\?\) AND \(occurred_at,place\)<\(\?,\?\)\)$/,
  ],
  [
    'a page of the events of a client',
    events({ clientId: 'c', since: 1 }),
    /events_by_client \(client_id=\? AND /,
  ],
  [
    'what to replay',
    ({ eventLog }) => eventLog.following(after, 2, 9),
    /events_by_age \(\(occurred_at,place\)>\(\?,\?\) AND occurred_at<\?\)$/,
  ],
  [
    'what was made since a time',
    ({ deliveryLog }) => deliveryLog.happenedIn(span, undefined, 9),
    /deliveries_by_age \(\(created_at,place\)>\(\?,\?\) AND created_at<\?\)$/,
  ],
  [
    'what ended since a time',
    ({ deliveryLog }) => deliveryLog.happenedIn(span, undefined, 9),
    /^SEARCH delivery_attempts USING COVERING INDEX delivery_attempts_by_age .*ended_at<\?\)$/,
  ],
  [
    'what happened to deliveries',
    async ({ deliveryLog }) => [
      await deliveryLog.findAll(DELIVERY_SEQS),
      await deliveryLog.attemptsOfAll(DELIVERY_SEQS),
    ],
    /^SEARCH delivery_attempts USING PRIMARY KEY \(delivery_seq=\?\)$/,
  ],
  [
    'how far deliveries of some events are',
    ({ deliveryLog }) => deliveryLog.statusesOf(SUBSCRIPTION_ID, EVENT_IDS),
    /^SEARCH deliveries USING INDEX deliveries_by_event \(event_seq=\? AND subscription_id=\?\)$/,
  ],
  [
    'what is held of some events',
    ({ deliveryLog }) => deliveryLog.cancelHeld(SUBSCRIPTION_ID, EVENT_IDS, 1),
    /^SEARCH deliveries USING INDEX deliveries_by_event \(event_seq=\? AND subscription_id=\?\)$/,
  ],
];

describe('on SQLite', () => {
  const under = databaseUnderTest('SQLite');
  const plansOf = (use: Use) =>
    queryPlansOf(under, (database) => inNameOf(OPERATOR, operatorUnitOfWork(database)).run(use));

  test.each(uses)('%s goes by its index, at any size of the tables', async (_, use, plan) => {
    const plans = await plansOf(use);
    expect(plans).toContainEqual(expect.stringMatching(plan));
    // `made` and `ended` are the first rows of two tables; `json_each` is the list of numbers of deliveries.
    expect(plans.filter((line) => /^SCAN (?!(made|ended)$|json_each )/.test(line))).toEqual([]);
  });

  test.each(uses.filter(([title]) => title.startsWith('a page') && !/an event|a client/.test(title)))(
    '%s is not sorted',
    async (_, use) => {
      expect((await plansOf(use)).join()).not.toContain('TEMP B-TREE');
    },
  );
});
