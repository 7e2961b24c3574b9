import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Grant } from '../../../../src/domain/credentials/access.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { databaseUnderTest, describeEachDatabase, PATIENT } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { connectionsWaiting } from '../../../support/postgres/waiting-connections.js';
import { signalled } from '../../../support/signalled.js';
import { signOnRig } from '../sign-on/rig.js';
import { newGrant } from '../sign-on/samples.js';

describeEachDatabase('a grant', (under) => {
  async function rigWith(fields: Partial<Grant> = {}) {
    const rig = await signOnRig(under);
    const grant = newGrant(await rig.newAccount(), rig.now, fields);
    await rig.run(({ grants }) => grants.insert(grant));
    const to = { at: rig.now + 9, refreshExpiresAt: rig.now + 1_000, expiresAt: rig.now + 2_000 };
    return { ...rig, grant, to, found: () => rig.rows.grants.find(grant.id) };
  }

  test.each<Partial<Grant>>([
    {},
    { refreshExpiresAt: null, revokedAt: 1_790_000_000_001 },
    { scopes: ['openid'], generation: 41 },
  ])('is returned unchanged kept: %j', async (fields) => {
    const { grant, found, rows } = await rigWith(fields);
    await expect(found()).resolves.toEqual(grant);
    await expect(rows.grants.find(`${grant.id}A`)).resolves.toBeUndefined();
  });

  test('has one successor, however many ask for it at once', async () => {
    const { grant, to, found, yesesOf } = await rigWith({ generation: 7 });
    await expect(yesesOf(50, ({ grants }) => grants.rotate(grant, to))).resolves.toBe(1);
    await expect(found()).resolves.toEqual({
      ...grant,
      generation: 8,
      rotatedAt: to.at,
      refreshExpiresAt: to.refreshExpiresAt,
      expiresAt: to.expiresAt,
    });
  });

  test.each<[what: string, fields: Partial<Grant>, of: Partial<Grant>]>([
    ['for an earlier generation', { generation: 3 }, { generation: 2 }],
    ['for a generation yet to come', { generation: 3 }, { generation: 4 }],
    ['for another application', {}, { applicationId: newPublicId('ApplicationId') }],
    ['for another grant', {}, { id: 'another' }],
    ['once it is revoked', { revokedAt: 1 }, {}],
    ['where the application may not refresh', { refreshExpiresAt: null }, {}],
  ])('is not rotated %s', async (_, fields, of) => {
    const { grant, to, run, found } = await rigWith(fields);
    await expect(run(({ grants }) => grants.rotate({ ...grant, ...of }, to))).resolves.toBe(false);
    await expect(found()).resolves.toEqual(grant);
  });

  test.each([
    { what: 'up to the last moment', before: 1, rotated: true },
    { what: 'no longer when its refresh token is over', before: 0, rotated: false },
    { what: 'no longer after that', before: -1, rotated: false },
  ])('is rotated $what', async ({ before, rotated }) => {
    const { grant, to, run } = await rigWith();
    const at = (grant.refreshExpiresAt as number) - before;
    await expect(run(({ grants }) => grants.rotate(grant, { ...to, at }))).resolves.toBe(rotated);
  });

  test('is revoked once, however many revoke it at once, and keeps the time of it', async () => {
    const { grant, now, run, found, yesesOf } = await rigWith();
    await expect(yesesOf(50, ({ grants }) => grants.revoke(grant.id, now + 4))).resolves.toBe(1);
    await expect(run(({ grants }) => grants.revoke(grant.id, now + 5))).resolves.toBe(false);
    await expect(found()).resolves.toEqual({ ...grant, revokedAt: now + 4 });
  });

  test('that is over is revoked all the same: another clock may still find it good', async () => {
    const { grant, run, found } = await rigWith();
    const later = grant.expiresAt + 1;
    await run(({ grants }) => grants.revoke(grant.id, later));
    expect((await found())?.revokedAt).toBe(later);
  });

  test('that is rotated and revoked at once ends revoked, with the successor that was made in that moment', async () => {
    const { grant, to, now, run, found } = await rigWith();
    const rivals = Array.from({ length: 20 }, (_, index) =>
      run(({ grants }) => (index === 9 ? grants.revoke(grant.id, now) : grants.rotate(grant, to))),
    );
    const revoked = (await Promise.all(rivals))[9];
    expect(revoked).toBe(true);
    expect((await found())?.revokedAt).toBe(now);
    const successor = { ...grant, generation: 2 };
    await expect(run(({ grants }) => grants.rotate(successor, to))).resolves.toBe(false);
  });
});

describe('rotations of one person for one application, on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('leave connections for the rotations of other people while they wait', async () => {
    const patient = await under.open(await under.newPlace(), PATIENT);
    const { database, newAccount, now, run } = await signOnRig(under, patient);
    const [person, another] = [await newAccount(), await newAccount()];
    const applicationId = newPublicId('ApplicationId');
    const grants = Array.from({ length: 12 }, () => newGrant(person, now, { applicationId }));
    const anothers = newGrant(another, now, { applicationId });
    await run(async (changes) => {
      for (const grant of [...grants, anothers]) {
        await changes.grants.insert(grant);
      }
    });
    const to = { at: now + 9, refreshExpiresAt: now + 1_000, expiresAt: now + 2_000 };
    const rotated = (grant: Grant) => run((changes) => changes.grants.rotate(grant, to));

    const { told: locked, tell } = signalled();
    const { told: released, tell: release } = signalled();
    const holding = database.write(async (writer) => {
      await sql`select from grants where account_id = ${person} for update`.execute(writer);
      tell();
      await released;
    });
    await locked;
    const waiting = Promise.allSettled(grants.map(rotated));
    await eventually('rotations that wait', async () => (await connectionsWaiting(database)) > 0);
    for (let generation = 1; generation <= 5; generation += 1) {
      await expect(rotated({ ...anothers, generation })).resolves.toBe(true);
    }
    expect(await connectionsWaiting(database)).toBeLessThanOrEqual(4);
    release();
    await holding;
    expect(await waiting).toEqual(grants.map(() => ({ status: 'fulfilled', value: true })));
  });
});
