import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { LATEST_MS } from '../../../../src/domain/clock.js';
import {
  createApiKey,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from '../../../../src/domain/operator/api-keys.js';
import { statusOf } from '../../../../src/domain/operator/lifetime.js';
import {
  createFirstOperatorToken,
  createServiceToken,
  revokeServiceToken,
  rotateServiceToken,
} from '../../../../src/domain/operator/service-tokens.js';
import { inspectApiKey } from '../../../../src/identifiers/api-key.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { serviceTokenStore, visitStore } from '../../../../src/store/adapters/access.js';
import type { Database } from '../../../../src/store/database.js';
import { databaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { plantSilentTrigger } from '../../../support/planted-triggers.js';
import { everythingIn, operatorRig, refusal } from './rig.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describeEachDatabase('API keys', (under) => {
  async function issued(lifetimeMs?: number) {
    const rig = await operatorRig(under);
    const { id: integrationId } = await rig.newIntegration();
    const expiresAt = lifetimeMs === undefined ? undefined : rig.clock.now() + lifetimeMs;
    const creation = { integrationId, label: 'Nightly', expiresAt };
    const { apiKey, key } = await rig.run((changes) => createApiKey(changes, 'demo', creation));
    const found = async (text: string) => (await visitStore(rig.database).findKey(hashSecret(text)))?.key;
    return { ...rig, integrationId, apiKey, key, found };
  }

  test('a new key is plausible, opens the door of its integration and is stored as a hash only', async () => {
    const { database, integrationId, apiKey, key, found } = await issued();
    expect(inspectApiKey(key, 'demo')).toBe('plausible');
    expect(key.startsWith(apiKey.hint.slice(0, -1))).toBe(true);
    await expect(found(key)).resolves.toMatchObject({ id: apiKey.id, integrationId, revokedAt: null });
    await expect(everythingIn(database)).resolves.not.toContain(key.slice(13));
  });

  test('no change of it is answered as done when a trigger left it as it was', async () => {
    const { database, run, apiKey, key, found, audited } = await issued();
    await plantSilentTrigger(database, under.kind, { table: 'api_keys', event: 'update' });
    const before = await audited();
    const kept = new RegExp(`^The database did not change ${apiKey.id}, so the write is undone\\.`);
    await expect(run((changes) => revokeApiKey(changes, apiKey.id))).rejects.toThrow(kept);
    const rotation = { apiKeyId: apiKey.id };
    await expect(run((changes) => rotateApiKey(changes, 'demo', rotation))).rejects.toThrow(kept);
    const update = { ...rotation, expiresAt: apiKey.createdAt + HOUR_MS };
    await expect(run((changes) => updateApiKey(changes, update))).rejects.toThrow(kept);
    expect(await audited()).toEqual(before);
    await expect(found(key)).resolves.toMatchObject({ expiresAt: null, revokedAt: null });
  });

  test('rotating it issues a successor, and both are known until the overlap is over', async () => {
    const { run, clock, apiKey, key, found } = await issued();
    const rotation = { apiKeyId: apiKey.id, overlapSeconds: 3_600 };
    const next = await run((changes) => rotateApiKey(changes, 'demo', rotation));

    expect(next.key).not.toBe(key);
    expect(next.apiKey).toMatchObject({ label: 'Nightly', expiresAt: null });
    await expect(found(key)).resolves.toMatchObject({ expiresAt: clock.now() + HOUR_MS, revokedAt: null });
    await expect(found(next.key)).resolves.toMatchObject({ expiresAt: null, revokedAt: null });
  });

  test('a second rotation leaves the key its first overlap, and the end that it was issued with', async () => {
    const { run, rows, clock, apiKey } = await issued(90 * DAY_MS);
    const rotate = (overlapSeconds?: number) =>
      run((changes) => rotateApiKey(changes, 'demo', { apiKeyId: apiKey.id, overlapSeconds }));
    await rotate();
    clock.advance(HOUR_MS);
    const { previous } = await rotate(7 * 86_400);
    expect(previous).toMatchObject({
      expiresAt: apiKey.createdAt + DAY_MS,
      intendedExpiresAt: apiKey.createdAt + 90 * DAY_MS,
      rotatedAt: clock.now(),
    });
    await expect(rows.apiKeys.find(apiKey.id)).resolves.toEqual(previous);
  });

  test.each([
    ['put off', 2 * DAY_MS, null],
    ['removed', undefined, null],
    ['made earlier', HOUR_MS, 90 * DAY_MS],
  ])(
    'a rotated key whose end is %s has the lifetime of that, unless it shortens the overlap',
    async (_, leftMs, intendedMs) => {
      const { run, clock, apiKey } = await issued(90 * DAY_MS);
      await run((changes) => rotateApiKey(changes, 'demo', { apiKeyId: apiKey.id }));
      const expiresAt = leftMs && clock.now() + leftMs;
      const update = { apiKeyId: apiKey.id, expiresAt, updateMask: ['expires_at'] };
      expect(await run((changes) => updateApiKey(changes, update))).toMatchObject({
        expiresAt: expiresAt ?? null,
        rotatedAt: intendedMs && clock.now(),
        intendedExpiresAt: intendedMs && apiKey.createdAt + intendedMs,
      });
    },
  );

  test('a key ends in the year 9999 at the latest', async () => {
    const { run, apiKey } = await issued();
    const endAt = (expiresAt: number) =>
      run((changes) => updateApiKey(changes, { apiKeyId: apiKey.id, expiresAt, updateMask: ['expires_at'] }));
    await expect(endAt(LATEST_MS)).resolves.toMatchObject({ expiresAt: LATEST_MS });
    await expect(refusal(endAt(LATEST_MS + 1))).resolves.toEqual({
      code: 'INVALID_REQUEST',
      paths: ['expires_at'],
    });
  });

  test.each([
    ['a day, unless it is said', undefined, undefined, DAY_MS],
    ['what is said', 60, undefined, 60_000],
    ['nothing where it is 0', 0, undefined, 0],
    ['no longer than the key had to live', undefined, HOUR_MS, HOUR_MS],
  ])('the overlap is %s', async (_, overlapSeconds, lifetimeMs, leftMs) => {
    const { run, clock, apiKey } = await issued(lifetimeMs);
    const { previous } = await run((changes) =>
      rotateApiKey(changes, 'demo', { apiKeyId: apiKey.id, overlapSeconds }),
    );
    expect((previous.expiresAt ?? 0) - clock.now()).toBe(leftMs);
    expect(statusOf(previous, clock.now() + leftMs)).toBe('expired');
  });

  test('revoking is final, and doing it twice leaves no second trace', async () => {
    const { database, run, clock, apiKey, key, found } = await issued();
    await run((changes) => revokeApiKey(changes, apiKey.id));
    await expect(found(key)).resolves.toMatchObject({ revokedAt: clock.now() });
    const before = await everythingIn(database);
    clock.advance(1);
    await run((changes) => revokeApiKey(changes, apiKey.id));
    await expect(everythingIn(database)).resolves.toBe(before);
    const rotating = run((changes) => rotateApiKey(changes, 'demo', { apiKeyId: apiKey.id }));
    await expect(refusal(rotating)).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
    const updating = run((changes) => updateApiKey(changes, { apiKeyId: apiKey.id, label: 'x' }));
    await expect(refusal(updating)).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
  });

  test('an expired key has no successor', async () => {
    const { run, clock, apiKey } = await issued(HOUR_MS);
    clock.advance(HOUR_MS);
    await expect(
      refusal(run((changes) => rotateApiKey(changes, 'demo', { apiKeyId: apiKey.id }))),
    ).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
  });

  test('label and end can be changed, and the end removed', async () => {
    const { run, apiKey, clock } = await issued(HOUR_MS);
    const relabelled = await run((changes) =>
      updateApiKey(changes, { apiKeyId: apiKey.id, label: ' Daily ' }),
    );
    expect(relabelled).toMatchObject({ label: 'Daily', expiresAt: clock.now() + HOUR_MS });
    const endless = await run((changes) =>
      updateApiKey(changes, { apiKeyId: apiKey.id, updateMask: ['expires_at'] }),
    );
    expect(endless).toMatchObject({ label: 'Daily', expiresAt: null });
    expect(new Set([apiKey.version, relabelled.version, endless.version]).size).toBe(3);
  });

  test('every fault of a new key is named at once', async () => {
    const { run, clock, integrationId } = await issued();
    const creation = { integrationId, label: '', expiresAt: clock.now() };
    await expect(refusal(run((changes) => createApiKey(changes, 'demo', creation)))).resolves.toEqual({
      code: 'INVALID_REQUEST',
      paths: ['label', 'expires_at'],
    });
    await expect(
      refusal(
        run((changes) => createApiKey(changes, 'demo', { ...creation, label: 'x', expiresAt: Number.NaN })),
      ),
    ).resolves.toMatchObject({ paths: ['expires_at'] });
  });

  test('a list is of one state, as it is now', async () => {
    const { run, rows, clock, apiKey, integrationId } = await issued(HOUR_MS);
    const { apiKey: lasting } = await run((changes) =>
      createApiKey(changes, 'demo', { integrationId, label: 'Lasting' }),
    );
    const { apiKey: revoked } = await run((changes) =>
      createApiKey(changes, 'demo', { integrationId, label: 'Revoked' }),
    );
    await run((changes) => revokeApiKey(changes, revoked.id));
    const idsOf = async (status: 'active' | 'expired' | 'revoked') => {
      const page = await rows.apiKeys.page({ after: undefined, limit: 9 }, { status, now: clock.now() });
      return page.map(({ id }) => id).sort();
    };
    await expect(idsOf('active')).resolves.toEqual([apiKey.id, lasting.id].sort());
    clock.advance(HOUR_MS);
    await expect(idsOf('active')).resolves.toEqual([lasting.id]);
    await expect(idsOf('expired')).resolves.toEqual([apiKey.id]);
    await expect(idsOf('revoked')).resolves.toEqual([revoked.id]);
  });
});

describeEachDatabase('service tokens of operators', (under) => {
  test('a new token is known by its hash, and its use is noted', async () => {
    const { database, run, rows, clock } = await operatorRig(under);
    const creation = { kind: 'platform' as const, label: 'Back office' };
    const { serviceToken, token } = await run((changes) => createServiceToken(changes, 'live', creation));
    const store = serviceTokenStore(database);

    expect(token).toMatch(/^platform_live_\w{48}$/);
    await expect(store.findByHash(hashSecret(token))).resolves.toMatchObject({ id: serviceToken.id });
    await expect(everythingIn(database)).resolves.not.toContain(token.slice(14));
    await store.markUsed(serviceToken.id, clock.now(), 0);
    await store.markUsed(serviceToken.id, clock.now() + 1, clock.now());
    await expect(rows.serviceTokens.find(serviceToken.id)).resolves.toMatchObject({
      lastUsedAt: clock.now(),
    });
  });

  test('a successor has role and label of its predecessor, which ends after the overlap', async () => {
    const { run, rows, clock } = await operatorRig(under);
    const creation = { kind: 'support' as const, label: 'Help desk' };
    const { serviceToken } = await run((changes) => createServiceToken(changes, 'live', creation));
    const rotation = { serviceTokenId: serviceToken.id, overlapSeconds: 60 };
    const { token, ...rotated } = await run((changes) => rotateServiceToken(changes, 'live', rotation));
    expect(token).toMatch(/^support_live_\w{48}$/);
    expect(rotated.serviceToken).toMatchObject({ kind: 'support', label: 'Help desk', expiresAt: null });
    await expect(rows.serviceTokens.find(serviceToken.id)).resolves.toMatchObject({
      expiresAt: clock.now() + 60_000,
    });
    clock.advance(60_000);
    await expect(
      refusal(run((changes) => rotateServiceToken(changes, 'live', rotation))),
    ).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
  });

  test('the successor of an expiring token gets its lifetime, unless another is given', async () => {
    const { clock, run } = await operatorRig(under);
    const { serviceToken } = await run((changes) =>
      createFirstOperatorToken(changes, 'live', { expiresAt: changes.now + 30 * DAY_MS }),
    );
    clock.advance(29 * DAY_MS);
    const rotate = (expiresAt?: number) =>
      run((changes) =>
        rotateServiceToken(changes, 'live', {
          serviceTokenId: serviceToken.id,
          overlapSeconds: undefined,
          expiresAt,
        }),
      );
    const told = await rotate(clock.now() + HOUR_MS);
    expect(told.serviceToken.expiresAt).toBe(clock.now() + HOUR_MS);
    const { serviceToken: present } = await run((changes) =>
      createServiceToken(changes, 'live', {
        kind: 'support',
        label: 'Desk',
        expiresAt: clock.now() + 30 * DAY_MS,
      }),
    );
    const { serviceToken: successor } = await run((changes) =>
      rotateServiceToken(changes, 'live', { serviceTokenId: present.id }),
    );
    expect(successor.expiresAt).toBe(clock.now() + 30 * DAY_MS);
  });

  test('the successor of a token that ends at the latest possible time ends at that time too', async () => {
    const { clock, run } = await operatorRig(under);
    const creation = { kind: 'support' as const, label: 'Desk', expiresAt: LATEST_MS };
    const { serviceToken } = await run((changes) => createServiceToken(changes, 'live', creation));
    clock.advance(DAY_MS);
    const rotation = { serviceTokenId: serviceToken.id };
    const next = await run((changes) => rotateServiceToken(changes, 'live', rotation));
    expect(next.serviceToken.expiresAt).toBe(LATEST_MS);
  });

  test.each([
    ['ends', 30 * DAY_MS],
    ['does not end', undefined],
  ])('a second successor of a token that %s gets its lifetime too, not the overlap', async (_, lifeMs) => {
    const { clock, run } = await operatorRig(under);
    const endOf = () => (lifeMs === undefined ? null : clock.now() + lifeMs);
    const creation = { kind: 'support' as const, label: 'Desk', expiresAt: endOf() ?? undefined };
    const { serviceToken: first } = await run((changes) => createServiceToken(changes, 'live', creation));
    const rotate = (serviceTokenId: string) =>
      run((changes) => rotateServiceToken(changes, 'live', { serviceTokenId }));
    await rotate(first.id);
    clock.advance(HOUR_MS);
    const { serviceToken: second } = await rotate(first.id);
    expect(second.expiresAt).toBe(endOf());
    clock.advance(HOUR_MS);
    const { serviceToken: third } = await rotate(second.id);
    expect(third.expiresAt).toBe(endOf());
  });

  test('only a platform token is limited to an instance, and to one that there is', async () => {
    const { run } = await operatorRig(under);
    const creation = { kind: 'support' as const, label: 'Help desk', instanceId: 'ins_none' };
    const make = (kind: 'support' | 'platform') =>
      refusal(run((changes) => createServiceToken(changes, 'live', { ...creation, kind })));
    await expect(make('support')).resolves.toEqual({ code: 'INVALID_REQUEST', paths: ['instance_id'] });
    await expect(make('platform')).resolves.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });

  test('when every operator token has ended, a first one can be made again', async () => {
    const { run, clock, database } = await operatorRig(under);
    const make = () =>
      run((changes) => createFirstOperatorToken(changes, 'live', { expiresAt: changes.now + 1_000 }));
    const { serviceToken } = await make();
    await serviceTokenStore(database).markUsed(serviceToken.id, clock.now(), 0);
    await expect(refusal(make())).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
    clock.advance(1_000);
    await expect(make()).resolves.toMatchObject({ token: expect.stringMatching(/^operator_live_/) });
  });

  test('a first one that was never used is replaced on request, and revoked, unless there are two', async () => {
    const { run, rows } = await operatorRig(under);
    const make = (replacesUnused = true) =>
      run((changes) => createFirstOperatorToken(changes, 'live', { replacesUnused }));
    const first = await make();
    expect(first).toMatchObject({ token: expect.stringMatching(/^operator_live_/), lost: undefined });
    await expect(refusal(make(false))).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
    expect(await make()).toMatchObject({ lost: { id: first.serviceToken.id } });
    await expect(rows.serviceTokens.find(first.serviceToken.id)).resolves.toMatchObject({
      revokedAt: expect.any(Number),
    });
    await run((changes) => createServiceToken(changes, 'live', { kind: 'operator', label: 'Second' }));
    await expect(refusal(make())).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
  });

  test('the last one for operators cannot be revoked, until there is another', async () => {
    const { run } = await operatorRig(under);
    const make = (kind: 'operator' | 'platform') =>
      run((changes) => createServiceToken(changes, 'live', { kind, label: kind }));
    const { serviceToken } = await make('operator');
    await make('platform');
    const revoke = () => run((changes) => revokeServiceToken(changes, serviceToken.id));
    await expect(refusal(revoke())).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
    await make('operator');
    await expect(revoke()).resolves.toMatchObject({ revokedAt: expect.any(Number) });
  });

  test('one is not answered as revoked or rotated when a trigger left it as it was', async () => {
    const { database, run, audited } = await operatorRig(under);
    const { serviceToken } = await run((changes) =>
      createServiceToken(changes, 'live', { kind: 'platform', label: 'Back office' }),
    );
    await plantSilentTrigger(database, under.kind, { table: 'service_tokens', event: 'update' });
    const before = await audited();
    const kept = `The database did not change ${serviceToken.id}`;
    await expect(run((changes) => revokeServiceToken(changes, serviceToken.id))).rejects.toThrow(kept);
    const rotation = { serviceTokenId: serviceToken.id };
    await expect(run((changes) => rotateServiceToken(changes, 'live', rotation))).rejects.toThrow(kept);
    expect(await audited()).toEqual(before);
  });

  test('a token without a role is refused', async () => {
    const { run } = await operatorRig(under);
    const creation = { kind: undefined, label: '' };
    await expect(refusal(run((changes) => createServiceToken(changes, 'live', creation)))).resolves.toEqual({
      code: 'INVALID_REQUEST',
      paths: ['role', 'label'],
    });
  });
});

describe('on PostgreSQL, where writes overlap', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('of two operators who revoke each other concurrently, one stays valid', async () => {
    const { run, database } = await operatorRig(under);
    const make = async (label: string) =>
      (await run((changes) => createServiceToken(changes, 'live', { kind: 'operator', label }))).serviceToken
        .id;
    const [one, two] = [await make('One'), await make('Two')];
    let second = Promise.resolve('not begun');
    await run(async (changes) => {
      await revokeServiceToken(changes, one);
      let settled = false;
      second = run((others) => revokeServiceToken(others, two)).then(
        () => 'done',
        () => 'refused',
      );
      void second.finally(() => {
        settled = true;
      });
      await eventually('the second waits, or goes on', async () => settled || anyWriteWaits(database));
    });
    await expect(second).resolves.toBe('refused');
  });
});

async function anyWriteWaits({ reader }: Database): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    reader,
  );
  return rows.length > 0;
}
