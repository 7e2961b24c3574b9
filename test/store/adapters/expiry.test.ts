import { describe, expect, test } from '@jest/globals';
import {
  type ExpiringCredential,
  type FailureWarning,
  nextExpiries,
  warnOfExpiry,
} from '../../../src/domain/maintenance/expiry.js';
import { expiryStore } from '../../../src/store/adapters/expiry.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import { databaseUnderTest, describeEachDatabase } from '../../support/databases.js';
import { queryPlansOf } from '../query-plans.js';
import { plantApiKey, plantIntegration, plantServiceToken } from '../rows.js';
import { subscriptionRig } from './webhooks/subscriptions/rig.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const LIMIT_MS = 100 * HOUR_MS;
const FIRST_PAGE = { after: undefined, limit: 10 };

/** Warns as a node does, and returns the warnings. */
async function warned(database: Database, now: number) {
  const said: (ExpiringCredential | (FailureWarning & { hasContact: boolean }))[] = [];
  await warnOfExpiry(
    expiryStore(database),
    {
      onExpiring: (credential) => said.push(credential),
      onFailing: (warning, hasContact) => said.push({ ...warning, hasContact }),
    },
    { clock: () => now, failingLimitMs: LIMIT_MS },
  );
  return said;
}

describeEachDatabase('keys, tokens and secrets', (under) => {
  async function withKey(expires_at: number, row: { created_at?: number; revoked_at?: number } = {}) {
    const database = await under.openMigrated();
    const { id: integration_id } = await plantIntegration(database);
    const { id } = await plantApiKey(database, 'secret', {
      integration_id,
      created_at: 0,
      expires_at,
      ...row,
    });
    return { database, id, integration_id };
  }

  test('are warned of 30, 7 and 1 days before their end, once each', async () => {
    const end = 100 * DAY_MS;
    const { database, id, integration_id } = await withKey(end);
    const key = { kind: 'api_key', id, of: integration_id, expiresAt: end };
    const days: number[] = [];
    for (const left of [31, 30, 30, 29, 7.5, 7, 6, 1.5, 1, 0.5, 0, -1, -2]) {
      const said = await warned(database, end - left * DAY_MS);
      expect(said).toEqual(said.length === 0 ? [] : [key]);
      days.push(...said.map(() => left));
    }
    expect(days).toEqual([30, 7, 1]);
    await expect(database.reader.selectFrom('expiry_warnings').selectAll().execute()).resolves.toEqual([]);
  });

  test('are warned of by one of several nodes', async () => {
    const { database } = await withKey(100 * DAY_MS);
    const nodes = await Promise.all(Array.from({ length: 6 }, () => warned(database, 99 * DAY_MS)));
    expect(nodes.flat()).toHaveLength(1);
  });

  test('are warned of anew when their end was moved, and only at the next threshold after an outage', async () => {
    const { database } = await withKey(100 * DAY_MS);
    await expect(warned(database, 94 * DAY_MS)).resolves.toHaveLength(1);
    await database.write((writer) =>
      writer
        .updateTable('api_keys')
        .set({ expires_at: 120 * DAY_MS })
        .execute(),
    );
    await expect(warned(database, 94 * DAY_MS)).resolves.toMatchObject([{ expiresAt: 120 * DAY_MS }]);
  });

  test('are not warned of if they live no longer than the threshold, or were revoked', async () => {
    const short = await withKey(100 * DAY_MS, { created_at: 95 * DAY_MS });
    await expect(warned(short.database, 96 * DAY_MS)).resolves.toEqual([]);
    await expect(warned(short.database, 99 * DAY_MS)).resolves.toHaveLength(1);
    const revoked = await withKey(100 * DAY_MS, { revoked_at: 1 });
    await expect(warned(revoked.database, 99 * DAY_MS)).resolves.toEqual([]);
  });

  test('are listed by their end, and the next of each kind is known', async () => {
    const { database, id, integration_id } = await withKey(50);
    await plantServiceToken(database, 'one', { expires_at: 40 });
    await plantServiceToken(database, 'two', { expires_at: 60 });
    await plantServiceToken(database, 'three', { expires_at: 30, revoked_at: 1 });
    const { expiring } = expiryStore(database);
    await expect(expiring(20, 50, 10)).resolves.toMatchObject([
      { kind: 'service_token', of: 'operator', expiresAt: 40 },
      { kind: 'api_key', id, of: integration_id, expiresAt: 50 },
    ]);
    await expect(expiring(20, 100, 1)).resolves.toMatchObject([{ expiresAt: 40 }]);
    const next = (now: number) =>
      nextExpiries(expiryStore(database), { clock: () => now, failingLimitMs: LIMIT_MS });
    await expect(next(20)).resolves.toEqual({ api_key: 50, service_token: 40 });
    await expect(next(50)).resolves.toEqual({ service_token: 60 });
  });
});

describeEachDatabase('a failing subscription', (under) => {
  async function failing(contact_email: string | null = 'webhooks@example.com') {
    const rig = await subscriptionRig(under);
    const { database } = rig;
    const { subscription } = await rig.create();
    const since = rig.clock.now();
    await database.write((writer) => writer.updateTable('integrations').set({ contact_email }).execute());
    const failSince = (failing_since: number | null) =>
      database.write((writer) => writer.updateTable('subscriptions').set({ failing_since }).execute());
    await failSince(since);
    const { integrationNotices } = platformUnitOfWork(database).rows;
    const notices = () => integrationNotices.page(FIRST_PAGE);
    return { ...rig, subscription, since, failSince, integrationNotices, notices };
  }

  test('is warned of after half and nine tenths of the time until it is disabled, once each', async () => {
    const { database, subscription, since, notices } = await failing();
    const at = (hours: number) => warned(database, since + hours * HOUR_MS);
    await expect(at(49)).resolves.toEqual([]);
    const warning = {
      id: subscription.id,
      failingSince: since,
      disabledFrom: since + LIMIT_MS,
      hasContact: true,
    };
    await expect(at(50)).resolves.toEqual([{ ...warning, tenths: 5 }]);
    await expect(at(89)).resolves.toEqual([]);
    await expect(at(90)).resolves.toEqual([{ ...warning, tenths: 9 }]);
    await expect(at(99)).resolves.toEqual([]);
    const notice = {
      ...{ subscriptionId: subscription.id, email: 'webhooks@example.com' },
      ...{ failingSince: since, disabledFrom: since + LIMIT_MS },
    };
    await expect(notices()).resolves.toMatchObject([
      { ...notice, kind: 'failing_half', createdAt: since + 50 * HOUR_MS },
      { ...notice, kind: 'failing_nine_tenths', createdAt: since + 90 * HOUR_MS },
    ]);
  });

  test('is warned of by one of several nodes, and only at nine tenths after an outage', async () => {
    const { database, since, notices } = await failing();
    const now = since + 95 * HOUR_MS;
    const nodes = await Promise.all(Array.from({ length: 6 }, () => warned(database, now)));
    expect(nodes.flat()).toMatchObject([{ tenths: 9 }]);
    await expect(notices()).resolves.toHaveLength(1);
  });

  test('is not warned of once it has recovered, and is again when it fails later', async () => {
    const { database, since, failSince } = await failing();
    await expect(warned(database, since + 50 * HOUR_MS)).resolves.toHaveLength(1);
    await failSince(null);
    await expect(warned(database, since + 90 * HOUR_MS)).resolves.toEqual([]);
    await failSince(since + 91 * HOUR_MS);
    await expect(warned(database, since + 92 * HOUR_MS)).resolves.toEqual([]);
    await expect(warned(database, since + 141 * HOUR_MS)).resolves.toMatchObject([{ tenths: 5 }]);
  });

  test('without a contact of its integration is warned of in the log alone', async () => {
    const { database, since, notices } = await failing(null);
    await expect(warned(database, since + 50 * HOUR_MS)).resolves.toMatchObject([{ hasContact: false }]);
    await expect(notices()).resolves.toEqual([]);
  });

  test('that is disabled is not warned of', async () => {
    const { database, since } = await failing();
    await database.write((writer) =>
      writer.updateTable('subscriptions').set({ status: 'DISABLED' }).execute(),
    );
    await expect(warned(database, since + 95 * HOUR_MS)).resolves.toEqual([]);
  });

  test('is the next to be disabled', async () => {
    const { database, since } = await failing();
    const options = { clock: () => since, failingLimitMs: LIMIT_MS };
    await expect(nextExpiries(expiryStore(database), options)).resolves.toEqual({
      subscription: since + LIMIT_MS,
    });
    const later = { ...options, clock: () => since + LIMIT_MS };
    await expect(nextExpiries(expiryStore(database), later)).resolves.toEqual({});
  });
});

describe('on SQLite', () => {
  const under = databaseUnderTest('SQLite');

  test('what expires next, and what to warn of, is found by indexes', async () => {
    const plans = await queryPlansOf(under, async (database) => {
      const store = expiryStore(database);
      await store.next(2, 1);
      await store.expiring(1, 2, 10);
      await store.toWarnOf(1, 2, 7, 10);
      await store.failing(1, 5, 10);
    });
    expect(plans.filter((plan) => /^SCAN (held|subscriptions|expiry_warnings)\b/.test(plan))).toEqual([]);
    expect(plans).toContainEqual(expect.stringContaining('subscriptions_failing'));
    expect(plans.filter((plan) => plan.includes('by_revocation'))).toEqual([]);
  });
});
