import { expect, test } from '@jest/globals';
import { type Kysely, Migrator } from 'kysely';
import { migrateToLatest } from '../../../../src/store/migrate.js';
import { migrations } from '../../../../src/store/migrations/index.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import {
  grantOf,
  newApplication,
  rotateRefreshToken,
  signedIn,
  type TokenRig,
  tokenRig,
} from '../token-rig.js';

const DAY_MS = 86_400_000;

describeEachDatabase('a family of refresh tokens', (under) => {
  function refresh(rig: TokenRig, refreshToken: string) {
    return rotateRefreshToken(rig.issuer, rig.application.client, { refreshToken });
  }

  /** Renewed every 29 days. */
  async function renewedUntil(rig: TokenRig, refreshToken: string, end: number): Promise<string> {
    let token = refreshToken;
    while (rig.clock.now() + 29 * DAY_MS < end) {
      rig.clock.advance(29 * DAY_MS);
      token = (await refresh(rig, token)).refreshToken as string;
    }
    return token;
  }

  test('ends a year after the sign-in, however often it is renewed, and not a millisecond sooner', async () => {
    const rig = await tokenRig(under);
    const { refreshToken, grantId } = await signedIn(rig);
    const end = rig.clock.now() + 365 * DAY_MS;
    const nearEnd = await renewedUntil(rig, refreshToken, end);
    expect(await grantOf(rig, grantId)).toMatchObject({ refreshExpiresAt: end, refreshEndsAt: end });

    rig.clock.advance(end - 1 - rig.clock.now());
    const { refreshToken: last } = await refresh(rig, nearEnd);
    expect(await grantOf(rig, grantId)).toMatchObject({
      refreshExpiresAt: end,
      expiresAt: rig.clock.now() + 3_660_000,
    });
    rig.clock.advance(1);
    expect(await refusalOf(refresh(rig, last as string))).toMatchObject({ code: 'INVALID_GRANT' });
    expect((await grantOf(rig, grantId))?.revokedAt).toBeNull();
  });

  test('says the same successor to a retry near its end, and nothing after it', async () => {
    const rig = await tokenRig(under);
    const { refreshToken } = await signedIn(rig);
    const end = rig.clock.now() + 365 * DAY_MS;
    const nearEnd = await renewedUntil(rig, refreshToken, end);
    rig.clock.advance(end - 5_000 - rig.clock.now());
    const { refreshToken: successor } = await refresh(rig, nearEnd);
    rig.clock.advance(4_999);
    expect((await refresh(rig, nearEnd)).refreshToken).toBe(successor);
    rig.clock.advance(1);
    expect(await refusalOf(refresh(rig, nearEnd))).toMatchObject({ code: 'INVALID_GRANT' });
  });

  test('ends when the operator says for the application, sooner than one token would', async () => {
    const rig = await tokenRig(under);
    const tokenLifetimes = { refreshFamilySeconds: 3_600 };
    const application = await newApplication(rig.issuer, rig.database, rig.instanceId, { tokenLifetimes });
    const own = { ...rig, application };
    const { refreshToken } = await signedIn(own);
    rig.clock.advance(3_599_999);
    const { refreshToken: next } = await refresh(own, refreshToken);
    rig.clock.advance(1);
    expect(await refusalOf(refresh(own, next as string))).toMatchObject({ code: 'INVALID_GRANT' });
  });

  test('of before the upgrade has a year from its last refresh', async () => {
    const database = await under.open(await under.newEmptyPlace());
    // biome-ignore lint/suspicious/noExplicitAny: a schema of an earlier time.
    const earlier = database.patient as unknown as Kysely<any>;
    const provider = { getMigrations: async () => migrations };
    await new Migrator({ db: earlier, provider }).migrateTo('0013-encryption-keys');
    const grant = (id: string, refresh_expires_at: number | null) => ({
      ...{ id, application_id: 'app', account_id: 'acc', instance_id: 'ins', scopes: 'openid' },
      ...{ authenticated_at: 1, generation: 9, rotated_at: 500, expires_at: 900, revoked_at: null },
      refresh_expires_at,
    });
    await earlier
      .insertInto('grants')
      .values([grant('a', 800), grant('b', null)])
      .execute();

    await migrateToLatest(database.patient);

    const rows = await database.reader.selectFrom('grants').orderBy('id').selectAll().execute();
    expect(rows).toMatchObject([
      { ...grant('a', 800), refresh_ends_at: 500 + 365 * DAY_MS },
      { ...grant('b', null), refresh_ends_at: null },
    ]);
  });
});
