import { expect, test } from '@jest/globals';
import {
  type AuthorizationCode,
  CODE_LIFETIME_MS,
} from '../../../../src/domain/sign-on/authorization/codes.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { signOnRig } from './rig.js';
import { newCode } from './samples.js';

const MINUTE_MS = 60_000;

/** The beginning of a minute. */
const MINUTE = 1_790_000_040_000;

const END_OF_LAST = MINUTE + MINUTE_MS + CODE_LIFETIME_MS;

describeEachDatabase('a minute of codes', (under) => {
  async function rigIssuing() {
    const rig = await signOnRig(under);
    const accountId = await rig.newAccount();
    const issue = async (issuedAt: number, fields: Partial<AuthorizationCode> = {}) => {
      const code = newCode(accountId, issuedAt, fields);
      await rig.run(({ codes }) => codes.insert(code));
      return code;
    };
    const toWatch = (limit = 10) => rig.rows.codeMinutes.toWatch(limit);
    const markWatched = (minutes: number[], at = MINUTE) =>
      rig.run(({ codeMinutes }) => codeMinutes.markWatched(minutes, at));
    const expire = (now: number, minute = MINUTE) =>
      rig.run(({ codeMinutes }) => codeMinutes.expire(minute, now));
    return { ...rig, issue, toWatch, markWatched, expire };
  }

  test('waits to be watched from its first code on, once, until the last of its codes is over', async () => {
    const { issue, toWatch } = await rigIssuing();
    await expect(toWatch()).resolves.toEqual([]);
    for (const issuedAt of [MINUTE, MINUTE + 1, MINUTE + MINUTE_MS - 1]) {
      await issue(issuedAt);
    }
    await expect(toWatch()).resolves.toEqual([{ minute: MINUTE, expiresAt: END_OF_LAST }]);
  });

  test('is noted once, however many codes begin it at once', async () => {
    const { issue, toWatch } = await rigIssuing();
    await Promise.all(Array.from({ length: 50 }, (_, index) => issue(MINUTE + index)));
    await expect(toWatch()).resolves.toHaveLength(1);
  });

  test('comes after earlier ones, and no more of them than are asked for', async () => {
    const { issue, toWatch } = await rigIssuing();
    for (const minutes of [3, 0, 2, 1]) {
      await issue(MINUTE + minutes * MINUTE_MS);
    }
    const listed = (await toWatch(3)).map(({ minute }) => (minute - MINUTE) / MINUTE_MS);
    expect(listed).toEqual([0, 1, 2]);
  });

  test('that is watched is not listed again, whatever is issued in it afterwards', async () => {
    const { issue, toWatch, markWatched } = await rigIssuing();
    const [first, second] = [MINUTE, MINUTE + MINUTE_MS];
    await issue(first);
    await issue(second);
    await markWatched([]);
    await markWatched([first, 12_345]);
    await issue(first + 5);
    expect((await toWatch()).map(({ minute }) => minute)).toEqual([second]);
  });

  test('keeps when it was first watched', async () => {
    const { issue, markWatched, database } = await rigIssuing();
    await issue(MINUTE);
    await markWatched([MINUTE], 5);
    await markWatched([MINUTE], 6);
    const { watched_at } = await database.reader
      .selectFrom('code_minutes')
      .select('watched_at')
      .executeTakeFirstOrThrow();
    expect(watched_at).toBe(5);
  });

  test('reports how its codes ended, and when the next one expires', async () => {
    const { issue, expire, run, rows } = await rigIssuing();
    const [early, redeemed, late] = [
      await issue(MINUTE),
      await issue(MINUTE + 1),
      await issue(MINUTE + 30_000),
    ];
    const next = await issue(MINUTE + MINUTE_MS);
    await run(({ codes }) => codes.redeem(redeemed.hash, MINUTE + 2));

    await expect(expire(early.expiresAt - 1)).resolves.toEqual({
      issued: 3,
      redeemed: 1,
      expired: 0,
      retryAt: early.expiresAt,
    });
    await expect(expire(early.expiresAt)).resolves.toEqual({
      issued: 3,
      redeemed: 1,
      expired: 1,
      retryAt: late.expiresAt,
    });
    const done = { issued: 3, redeemed: 1, expired: 2, retryAt: null };
    await expect(expire(END_OF_LAST)).resolves.toEqual(done);
    await expect(expire(END_OF_LAST)).resolves.toEqual(done);
    const statuses = [early, redeemed, late, next].map(
      async ({ hash }) => (await rows.codes.find(hash))?.status,
    );
    await expect(Promise.all(statuses)).resolves.toEqual(['EXPIRED', 'REDEEMED', 'EXPIRED', 'ISSUED']);
  });

  test('without codes has nothing to tell', async () => {
    const { expire } = await rigIssuing();
    await expect(expire(END_OF_LAST)).resolves.toEqual({ issued: 0, redeemed: 0, expired: 0, retryAt: null });
  });

  test('takes no code that is redeemed in its last moment', async () => {
    const { issue, expire, run, rows } = await rigIssuing();
    const codes = await Promise.all(Array.from({ length: 20 }, () => issue(MINUTE)));
    const end = MINUTE + CODE_LIFETIME_MS;
    const redemptions = codes.map(({ hash }, index) =>
      run((changes) => changes.codes.redeem(hash, end - (index % 2))),
    );
    const [answers, expired] = await Promise.all([Promise.all(redemptions), expire(end)]);
    const statuses = await Promise.all(codes.map(async ({ hash }) => (await rows.codes.find(hash))?.status));
    expect(statuses).toEqual(answers.map((redeemed) => (redeemed ? 'REDEEMED' : 'EXPIRED')));
    expect(answers.filter((_, index) => index % 2 === 0)).not.toContain(true);
    expect(expired.expired).toBeGreaterThanOrEqual(10);
  });
});
