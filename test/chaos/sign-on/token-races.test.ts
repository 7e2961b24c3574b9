import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DemoFileApplication } from '../../../src/cli/demo/demo-file.js';
import type { Database } from '../../../src/store/database.js';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';
import { AttackedService, BEHIND_PROXY } from '../../attacks/attacked-service.js';
import type { UserAgent } from '../../attacks/user-agent.js';
import { expectOAuthError } from '../../attacks/verdicts.js';
import { newPostgresDatabase, PATIENT } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import type { Exchange } from '../../support/http-exchange.js';
import { serviceProcesses } from '../../support/service-process.js';
import { untilAnswered } from '../../support/turned-away.js';
import { type Family, firstOf, tokensIn } from './families.js';

const services = serviceProcesses();

const AT_ONCE = 50;
const BEYOND_THE_WINDOW_MS = 61_000;

describe.each(['SQLite', 'PostgreSQL'] as const)('a service on %s', (kind) => {
  let on: AttackedService;
  let browser: UserAgent;
  let database: Database;
  let drop: () => Promise<void> = async () => undefined;

  beforeAll(async () => {
    const place = kind === 'PostgreSQL' ? await newPostgresDatabase() : undefined;
    drop = async () => place?.drop();
    on = new AttackedService(
      await services.start({ env: { ...BEHIND_PROXY.env, DATABASE_URL: place?.url } }),
    );
    database = place
      ? await openPostgres(place.url, () => undefined, PATIENT)
      : openSqlite(`${on.service.dataDir}/integration.db`);
    browser = await on.signedIn();
  });
  afterAll(async () => {
    await database?.close();
    await on?.service.stop();
    await drop();
  });

  test.each(['portal', 'mobile'] as const)(
    'gives one of 50 redemptions of one code at once its tokens, which the others then end (%s)',
    async (name) => {
      // The answer with the tokens may come too late, as a 503: then all others are refused.
      const family = await eventually('a code whose tokens arrive', async () => {
        const code = await on.freshCode(browser, on[name]);
        let turnedAway = 0;
        const answers = await atOnce(async () => {
          const answer = await on.redeem(code);
          turnedAway += answer.status === 503 ? 1 : 0;
          return answer;
        });
        const [given, ...more] = answers.filter(({ status }) => status === 200);
        expect(more).toEqual([]);
        for (const answer of answers.filter((refused) => refused !== given)) {
          expectOAuthError(answer, 400, 'invalid_grant');
        }
        expect(given ?? turnedAway).not.toBe(0);
        return given && firstOf(code, tokensIn(given));
      });
      await expectOver(family);
      expect(await audited('code.replayed', family)).toBe(1);
    },
  );

  test('gives 50 concurrent refreshes with one token the same successor, which is valid', async () => {
    const family = await newFamily(on.mobile);
    const tokens = (await atOnce(() => refresh(family))).map(tokensIn);
    const [successor, ...others] = new Set(tokens.map(({ refresh_token }) => refresh_token));
    expect(others).toEqual([]);
    expect(new Set(tokens.map(({ access_token }) => access_token)).size).toBe(AT_ONCE);
    for (const { access_token } of [tokens[0], tokens.at(-1)].filter((token) => token !== undefined)) {
      expect((await on.userinfo(access_token)).status).toBe(200);
    }
    tokensIn(await refresh({ ...family, refreshToken: successor as string }));
    expect((await grant(family)).generation).toBe(3);
  });

  test('ends the family at one use after the window, the successor and all access tokens included', async () => {
    const family = await newFamily(on.portal);
    const successor = tokensIn(await refresh(family));
    await letWindowPass(family);
    expectOAuthError(await refresh(family), 400, 'invalid_grant');
    await expectOver({
      ...family,
      accessTokens: [...family.accessTokens, successor.access_token],
      refreshToken: successor.refresh_token,
    });
    expect(await audited('refresh_token.reused', family)).toBe(1);
  });

  test('ends with it a successor that is made at that very moment', async () => {
    const family = await newFamily(on.dashboard);
    const newest = { ...family, refreshToken: tokensIn(await refresh(family)).refresh_token };
    await letWindowPass(family);
    const answers = await atOnce((index) => refresh(index % 2 === 0 ? newest : family));
    for (const late of answers.filter((_, index) => index % 2 === 1)) {
      expectOAuthError(late, 400, 'invalid_grant');
    }
    const made = answers.filter(({ status }) => status === 200).map(tokensIn);
    await expectOver({ ...newest, accessTokens: made.map(({ access_token }) => access_token) });
    for (const { refresh_token } of made) {
      expectOAuthError(await refresh({ ...family, refreshToken: refresh_token }), 400, 'invalid_grant');
    }
    expect((await grant(family)).revoked_at).not.toBeNull();
    expect(await audited('refresh_token.reused', family)).toBe(1);
  });

  test('keeps its processes through all of that', () => {
    const lines = on.service.output.lines();
    expect(lines.filter(({ msg }) => msg?.endsWith('ended, starting it again'))).toEqual([]);
  });

  async function newFamily(application: DemoFileApplication): Promise<Family> {
    const code = await on.freshCode(browser, application);
    return firstOf(code, tokensIn(await on.redeem(code)));
  }

  function refresh({ application, refreshToken }: Family): Promise<Exchange> {
    return on.refresh(application, refreshToken);
  }

  async function expectOver(family: Family): Promise<void> {
    for (const accessToken of family.accessTokens) {
      expectOAuthError(await on.userinfo(accessToken), 401, 'invalid_token');
    }
    expectOAuthError(await refresh(family), 400, 'invalid_grant');
  }

  async function letWindowPass({ grantId }: Family): Promise<void> {
    const { rotated_at } = await grant({ grantId });
    await database.write((writer) =>
      writer
        .updateTable('grants')
        .set({ rotated_at: rotated_at - BEYOND_THE_WINDOW_MS })
        .where('id', '=', grantId)
        .execute(),
    );
  }

  function grant({ grantId }: Pick<Family, 'grantId'>) {
    return database.reader
      .selectFrom('grants')
      .selectAll()
      .where('id', '=', grantId)
      .executeTakeFirstOrThrow();
  }

  async function audited(type: string, { grantId }: Family): Promise<number> {
    const events = await database.reader
      .selectFrom('audit_events')
      .select('attributes')
      .where('type', '=', type)
      .execute();
    return events.filter(({ attributes }) => attributes.includes(grantId)).length;
  }
});

/**
 * Each repeated while it is turned away, since a use that waits too long for the others is answered 503. The
 * product guarantees that a repetition changes nothing: a spent code stays refused, and a spent refresh token
 * gives the same successor within its window.
 */
function atOnce(ask: (index: number) => Promise<Exchange>): Promise<Exchange[]> {
  return Promise.all(Array.from({ length: AT_ONCE }, (_, index) => untilAnswered(() => ask(index))));
}
