import { expect, test } from '@jest/globals';
import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { OperatorChanges } from '../../../../../src/domain/operator/unit-of-work.js';
import { inNameOf } from '../../../../../src/domain/unit-of-work.js';
import { operatorUnitOfWork } from '../../../../../src/store/adapters/operator/unit-of-work.js';
import { databaseUnderTest } from '../../../../support/databases.js';
import { queryPlansOf } from '../../../query-plans.js';
import { OPERATOR } from '../../operator/rig.js';

const ID = 'whs_1' as SubscriptionId;
const after = { createdAt: 1, id: 'x' };

/** In the order of the index, so that nothing is sorted. */
const OF_ONE =
  /^SEARCH deliveries USING COVERING INDEX deliveries_open \(status=\? AND subscription_id=\?\)$/;
const CHANGING = [/^SEARCH deliveries USING INTEGER PRIMARY KEY \(rowid=\?\)$/, /^LIST SUBQUERY 1$/, OF_ONE];

const uses: [title: string, use: (changes: OperatorChanges) => Promise<unknown>, plan: RegExp[]][] = [
  [
    'a page of subscriptions',
    ({ subscriptions }) => subscriptions.page({ after, limit: 50 }, {}),
    [/^SEARCH subscriptions USING INDEX subscriptions_by_age \(\(created_at,id\)<\(\?,\?\)\)$/],
  ],
  [
    'how many an instance integration has',
    ({ subscriptions }) => subscriptions.countOf('iin_1' as never),
    [/^SEARCH subscriptions USING INDEX subscriptions_by_connection \(instance_integration_id=\?\)$/],
  ],
  [
    'how much a subscription is behind',
    ({ deliveries }) => deliveries.backlogOf(ID),
    [/^SEARCH deliveries USING COVERING INDEX deliveries_open \(status=\? AND subscription_id=\?\)$/],
  ],
  [
    'since when deliveries are held',
    ({ deliveries }) => deliveries.heldSince(ID),
    [
      /^SEARCH deliveries USING INDEX deliveries_open \(status=\? AND subscription_id=\? AND attempts_begun=\? AND rowid>\?\)$/,
      /^CORRELATED SCALAR SUBQUERY 1$/,
      /^SEARCH events USING INTEGER PRIMARY KEY \(rowid=\?\)$/,
    ],
  ],
  ['what is held from now on', ({ deliveries }) => deliveries.holdPending(ID, 500), CHANGING],
  ['what is cancelled', ({ deliveries }) => deliveries.cancelOpen(ID, 1, 500), [...CHANGING, ...CHANGING]],
  [
    'what was left open',
    ({ deliveries }) => deliveries.leftOpen(100),
    [
      /^SCAN subscriptions USING INDEX /,
      ...[1, 2, 3].flatMap((look) => [new RegExp(`^CORRELATED SCALAR SUBQUERY ${look}$`), OF_ONE]),
    ],
  ],
  [
    'the secrets of a subscription that is deleted',
    ({ subscriptions }) => subscriptions.delete(ID, 1),
    [
      /^SEARCH subscriptions USING .*\(id=\?\)$/,
      /^SEARCH subscription_secrets USING .*subscription_secrets_by_subscription \(subscription_id=\?\)$/,
    ],
  ],
];

const under = databaseUnderTest('SQLite');

test.each(uses)('%s goes by its index', async (_, use, plan) => {
  const plans = await queryPlansOf(under, (database) =>
    inNameOf(OPERATOR, operatorUnitOfWork(database)).run(use),
  );
  // Some versions of SQLite say that they build one.
  const steps = plans.filter((step) => step !== 'CREATE BLOOM FILTER');
  expect(steps).toEqual(plan.map((line) => expect.stringMatching(line)));
});
