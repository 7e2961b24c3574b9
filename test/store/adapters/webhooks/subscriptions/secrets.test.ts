import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { rotateSubscriptionSecret } from '../../../../../src/domain/webhooks/subscriptions/secrets.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refusal } from '../../operator/rig.js';
import { subscriptionRig } from './rig.js';

const DAY_MS = 86_400_000;

/** A subscription, and a way to rotate its secret. */
async function rotating(under: Parameters<typeof subscriptionRig>[0]) {
  const rig = await subscriptionRig(under);
  const { subscription, secret } = await rig.create();
  const rotate = (overlapSeconds?: number) =>
    rig.run((changes) =>
      rotateSubscriptionSecret(changes, rig.secrets, { subscriptionId: subscription.id, overlapSeconds }),
    );
  const sealed = async () => {
    const rows = await rig.database.reader.selectFrom('subscription_secrets').selectAll().execute();
    return new Map(rows.map((row) => [row.id, row.sealed]));
  };
  return { ...rig, subscription, secret, rotate, sealed };
}

describeEachDatabase('the secrets of a subscription', (under) => {
  test('a secret is as Standard Webhooks writes them, and what is kept opens to the bytes behind it', async () => {
    const { subscription, secret, secrets, sealed } = await rotating(under);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const [kept] = subscription.secrets;
    const key = secrets.open((await sealed()).get(kept?.id as string) as string, kept?.id as string);
    const at = Math.floor(Date.now() / 1_000);
    const signature = `v1,${createHmac('sha256', key).update(`evt_a.${at}.{}`).digest('base64')}`;
    const headers = { 'webhook-id': 'evt_a', 'webhook-timestamp': `${at}`, 'webhook-signature': signature };
    expect(new Webhook(secret).verify('{}', headers)).toEqual({});
  });

  test('nothing that is stored or told of the subscription gives a secret away', async () => {
    const { database, secret, rotate, rows, subscription } = await rotating(under);
    const rotated = await rotate();
    const tables = ['subscriptions', 'subscription_secrets', 'audit_events'] as const;
    const stored = await Promise.all(
      tables.map((table) => database.reader.selectFrom(table).selectAll().execute()),
    );
    const told = await rows.subscriptions.find(subscription.id);
    const shown = JSON.stringify([stored, told, rotated.subscription]);
    for (const each of [secret, rotated.secret]) {
      const bytes = Buffer.from(each.slice('whsec_'.length), 'base64');
      for (const spelling of [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')]) {
        expect(shown).not.toContain(spelling);
      }
    }
    expect(rotated.secret).not.toBe(secret);
  });

  test('both secrets sign for a day unless told otherwise, and the next rotation removes what has ended', async () => {
    const { subscription, rotate, clock, rows, audited } = await rotating(under);
    const [first] = subscription.secrets;
    clock.advance(5);
    const { subscription: once } = await rotate();
    const [, second] = once.secrets;
    expect(once.secrets).toEqual([
      { ...first, expiresAt: clock.now() + DAY_MS },
      { id: expect.stringMatching(/^sec_/), createdAt: clock.now(), expiresAt: null },
    ]);
    expect(once.version).not.toBe(subscription.version);
    await expect(rows.subscriptions.find(subscription.id)).resolves.toEqual(once);

    clock.advance(DAY_MS);
    const { subscription: twice } = await rotate(60);
    expect(twice.secrets).toEqual([
      { ...second, expiresAt: clock.now() + 60_000 },
      { id: expect.any(String), createdAt: clock.now(), expiresAt: null },
    ]);
    await expect(rows.subscriptions.find(subscription.id)).resolves.toEqual(twice);
    expect((await audited()).slice(1)).toEqual([
      { type: 'subscription.secret_rotated', subject_id: subscription.id, secret_id: second?.id },
      { type: 'subscription.secret_rotated', subject_id: subscription.id, secret_id: twice.secrets[1]?.id },
    ]);
  });

  test('no overlap ends the present secrets at once', async () => {
    const { subscription, rotate, clock, sealed } = await rotating(under);
    clock.advance(1);
    await rotate(600);
    clock.advance(1);
    const { subscription: after } = await rotate(0);
    expect(after.secrets).toEqual([{ id: expect.any(String), createdAt: clock.now(), expiresAt: null }]);
    expect([...(await sealed()).keys()]).toEqual([after.secrets[0]?.id]);
    expect(after.id).toBe(subscription.id);
  });

  test('a longer overlap gives a secret no more time than it had', async () => {
    const { rotate, clock } = await rotating(under);
    clock.advance(1);
    const { subscription: once } = await rotate(60);
    clock.advance(1_000);
    const { subscription: twice } = await rotate(DAY_MS / 1_000);
    expect(twice.secrets.map(({ expiresAt }) => expiresAt)).toEqual([
      once.secrets[0]?.expiresAt,
      clock.now() + DAY_MS,
      null,
    ]);
  });

  test('at most five secrets sign; for another one, earlier ones must end', async () => {
    const { rotate, rows, subscription } = await rotating(under);
    for (let count = 2; count <= 5; count += 1) {
      await expect(rotate()).resolves.toMatchObject({ subscription: { secrets: { length: count } } });
    }
    const before = await rows.subscriptions.find(subscription.id);
    await expect(refusal(rotate())).resolves.toEqual({ code: 'TRANSITION_REFUSED', paths: [] });
    await expect(rows.subscriptions.find(subscription.id)).resolves.toEqual(before);
    await expect(rotate(0)).resolves.toMatchObject({ subscription: { secrets: { length: 1 } } });
  });

  test('what cannot be rotated is refused', async () => {
    const { rotate, run, secrets } = await rotating(under);
    await expect(refusal(rotate(365 * 86_400 + 1))).resolves.toEqual({
      code: 'INVALID_REQUEST',
      paths: ['overlap_seconds'],
    });
    const missing = run((changes) =>
      rotateSubscriptionSecret(changes, secrets, { subscriptionId: 'whs_missing' }),
    );
    await expect(refusal(missing)).resolves.toEqual({ code: 'SUBSCRIPTION_NOT_FOUND', paths: [] });
  });
});
