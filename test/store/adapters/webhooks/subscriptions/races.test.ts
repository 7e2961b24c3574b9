import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { OperatorChanges } from '../../../../../src/domain/operator/unit-of-work.js';
import type { Attributed } from '../../../../../src/domain/unit-of-work.js';
import { subscriptionCreation } from '../../../../../src/domain/webhooks/subscriptions/manage.js';
import { lockedReceiver, lockedSubscription } from '../../../../../src/domain/webhooks/subscriptions/rows.js';
import { MAX_SUBSCRIPTIONS } from '../../../../../src/domain/webhooks/subscriptions/rules.js';
import { rotateSubscriptionSecret } from '../../../../../src/domain/webhooks/subscriptions/secrets.js';
import {
  closeAll,
  deleteSubscription,
  disableSubscription,
  enableSubscription,
} from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { testSubscription } from '../../../../../src/domain/webhooks/subscriptions/test-event.js';
import { SealedBox } from '../../../../../src/keys/sealed-box.js';
import { databaseUnderTest, describeEachDatabase } from '../../../../support/databases.js';
import { eventually } from '../../../../support/eventually.js';
import { refusal } from '../../operator/rig.js';
import { PATIENT, sendingNode } from '../sending/rig.js';
import { deliveriesIn, HOOK, subscriptionRig } from './rig.js';

type Rig = Awaited<ReturnType<typeof subscriptionRig>>;
const SECRETS = new SealedBox(randomBytes(32));

type Work = Parameters<Rig['run']>[0];

/** Begins the second write during the first. Returns the outcome of the second. */
async function overlapping<T>({ run, database }: Rig, first: Work, second: () => Promise<T>): Promise<T> {
  let outcome: Promise<T> | undefined;
  let isOver = false;
  await run(async (changes) => {
    await first(changes);
    outcome = second();
    const end = () => {
      isOver = true;
    };
    outcome.then(end, end);
    // On SQLite the second write begins only when the first has ended.
    if (!database.writesInOrder) {
      await eventually('the second waits, or is over', async () => isOver || (await anyWriteWaits(database)));
    }
  });
  return outcome as Promise<T>;
}

async function anyWriteWaits({ reader }: Rig['database']): Promise<boolean> {
  const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  return (await waiting.execute(reader)).rows.length > 0;
}

describeEachDatabase('two concurrent changes of subscriptions', (under) => {
  test('the second is refused if the version that it names was replaced', async () => {
    const rig = await subscriptionRig(under);
    const { subscription } = await rig.create();
    const { id: subscriptionId, version: expectedVersion } = subscription;
    const second = overlapping(
      rig,
      async (changes) => {
        const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
        await changes.subscriptions.update({ ...present, version: 'another' });
      },
      () => rig.update({ subscriptionId, expectedVersion, description: 'mine' }),
    );
    await expect(refusal(second)).resolves.toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  test('both stay if neither names a version', async () => {
    const rig = await subscriptionRig(under);
    const { subscription } = await rig.create();
    const { id: subscriptionId } = subscription;
    const second = overlapping(
      rig,
      async (changes) => {
        const present = await lockedSubscription(changes, subscriptionId);
        await changes.subscriptions.update({ ...present, failingSince: 17, version: 'another' });
      },
      () => rig.update({ subscriptionId, description: 'mine' }),
    );
    await expect(second).resolves.toMatchObject({ failingSince: 17, description: 'mine' });
  });

  test('the second sends no test event to what the first disables', async () => {
    const rig = await subscriptionRig(under);
    const { subscription } = await rig.create();
    const chosen = { subscriptionId: subscription.id };
    const second = overlapping(
      rig,
      (changes) => disableSubscription(changes, chosen),
      () => rig.run((changes) => testSubscription(changes, chosen)),
    );
    await expect(refusal(second)).resolves.toMatchObject({ code: 'SUBSCRIPTION_DISABLED' });
    await expect(deliveriesIn(rig.database)).resolves.toEqual(new Map());
  });

  test('the second waits for the test event of the first, and holds its delivery', async () => {
    const rig = await subscriptionRig(under);
    const { subscription } = await rig.create();
    const chosen = { subscriptionId: subscription.id };
    const second = overlapping(
      rig,
      async (changes) => {
        await lockedReceiver(changes, subscription.id);
        await testSubscription(changes, chosen);
      },
      () => rig.run((changes) => disableSubscription(changes, chosen)),
    );
    await expect(second).resolves.toMatchObject({ held: 1 });
  });

  test('the second creation is refused when the first took the last place', async () => {
    const rig = await subscriptionRig(under);
    const { subscription } = await rig.create();
    await rig.run(async ({ subscriptions }) => {
      for (let made = 2; made < MAX_SUBSCRIPTIONS; made += 1) {
        const id = `whs_${String(made).padStart(22, '0')}` as SubscriptionId;
        await subscriptions.insert({ ...subscription, id });
      }
    });
    const last = await subscriptionCreation(
      { ...HOOK, instanceIntegrationId: rig.connection.id },
      rig.policy,
      rig.secrets,
    );
    const second = overlapping(rig, last, () => rig.create());
    await expect(refusal(second)).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
    await expect(rig.rows.subscriptions.countOf(rig.connection.id)).resolves.toBe(MAX_SUBSCRIPTIONS);
  });
});

// On SQLite one write begins when the other has ended.
describe('on PostgreSQL, a change of a subscription during a write with an event', () => {
  const under = databaseUnderTest('PostgreSQL');
  type Change = (
    changes: OperatorChanges & Attributed,
    chosen: { subscriptionId: SubscriptionId },
  ) => Promise<unknown>;

  /** How far the change is before the write with the event ends, and what it leaves. */
  async function during(change: Change) {
    const rig = await subscriptionRig(under);
    const { subscription } = await rig.create();
    const node = sendingNode(rig.database, rig.connection);
    let seen = 'waits';
    let changing: Promise<unknown> | undefined;
    await node.platform.run(async (changes) => {
      await changes.recordEvent(node.event());
      let isOver = false;
      changing = rig
        .run((operator) => change(operator, { subscriptionId: subscription.id }))
        .finally(() => {
          isOver = true;
        });
      changing.catch(() => undefined);
      await eventually(
        'the change is over, or waits',
        async () => isOver || (await anyWriteWaits(rig.database)),
      );
      seen = isOver ? 'is over' : 'waits';
    });
    await changing;
    return { seen, rig, node };
  }

  test.each<[string, Change]>([
    ['a disabling', disableSubscription],
    ['another secret', (changes, chosen) => rotateSubscriptionSecret(changes, SECRETS, chosen)],
    ['a test event', testSubscription],
    ['what is sent again', (changes, { subscriptionId }) => lockedReceiver(changes, subscriptionId)],
  ])('does not wait for it: %s', async (_, change) => {
    const { seen } = await during(change);
    expect(seen).toBe('is over');
  });

  test.each<[string, Change]>([
    ['an enabling', enableSubscription],
    ['a removal', deleteSubscription],
    ['the end of its connection', (changes, chosen) => disableSubscription(changes, chosen, 'UNCONFIGURED')],
    ['other settings', (changes, { subscriptionId }) => lockedSubscription(changes, subscriptionId)],
  ])('waits for it, so that later events see it: %s', async (_, change) => {
    const { seen } = await during(change);
    expect(seen).toBe('waits');
  });

  test('leaves nothing to send of an event that it did not wait for, once it is disabled', async () => {
    const { rig, node } = await during(disableSubscription);
    expect((await node.claim()).deliveries).toEqual([]);
    expect(await closeAll(rig.unitOfWork, PATIENT)).toBe(1);
    expect([...(await deliveriesIn(rig.database)).values()].map(({ status }) => status)).toEqual(['HELD']);
  });
});
