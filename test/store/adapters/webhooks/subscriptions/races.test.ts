import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { SubscriptionId } from '../../../../../generated/ids.js';
import { subscriptionCreation } from '../../../../../src/domain/webhooks/subscriptions/manage.js';
import { lockedReceiver, lockedSubscription } from '../../../../../src/domain/webhooks/subscriptions/rows.js';
import { MAX_SUBSCRIPTIONS } from '../../../../../src/domain/webhooks/subscriptions/rules.js';
import { disableSubscription } from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { testSubscription } from '../../../../../src/domain/webhooks/subscriptions/test-event.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { eventually } from '../../../../support/eventually.js';
import { refusal } from '../../operator/rig.js';
import { deliveriesIn, HOOK, subscriptionRig } from './rig.js';

type Rig = Awaited<ReturnType<typeof subscriptionRig>>;
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
