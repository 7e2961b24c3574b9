import { describe, expect, test } from '@jest/globals';
import { RateLimiter } from '../../../../src/domain/access/rate-limiter.js';
import type { BrowserStep } from '../../../../src/domain/sign-on/sessions/browser.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { type BrowserRig, browserRig, newPerson } from '../browser-rig.js';
import { answerOf, codeOf, signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');

const STOPPED = {
  code: ErrorCode.RATE_LIMITED,
  retryAfterSeconds: 60,
  rateLimit: { limit: 3, remaining: 0, resetSeconds: 60 },
};

async function rigForThree(): Promise<BrowserRig> {
  const rig = await browserRig(under);
  rig.signOn.strangers = new RateLimiter({ limit: 3, windowMs: 60_000 }, rig.clock.now);
  return rig;
}

async function begin(rig: BrowserRig, times: number, address?: string): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await new TestBrowser(rig, address).authorize();
  }
}

/** Every row that a step of signing in could leave behind. */
async function leftBehind({ database }: BrowserRig): Promise<unknown[]> {
  const tables = ['sessions', 'finished_interactions', 'authorization_codes', 'attempt_counts'] as const;
  const rows = await Promise.all(
    tables.map((table) => database.reader.selectFrom(table).selectAll().execute()),
  );
  return rows.flat();
}

describe('authorizations without a session', () => {
  test('leave nothing behind, however many are begun and looked at', async () => {
    const rig = await browserRig(under);
    for (let time = 0; time < 20; time += 1) {
      const browser = new TestBrowser(rig);
      await browser.authorize();
      await browser.authorize();
      expect(await browser.show('sign_in')).toMatchObject({ kind: 'sign_in' });
      await browser.logout();
    }
    expect(await leftBehind(rig)).toEqual([]);
  });

  test('are begun so often from one network, until the minute ends', async () => {
    const rig = await rigForThree();
    await begin(rig, 3);
    await expect(new TestBrowser(rig).authorize()).rejects.toMatchObject(STOPPED);
    expect(await new TestBrowser(rig, '192.0.2.8').authorize()).toMatchObject({ page: 'sign_in' });
    rig.clock.advance(60_000);
    await begin(rig, 1);
  });

  test('are counted with a cookie of an earlier one too, and over all of an IPv6 network', async () => {
    const rig = await rigForThree();
    const browser = new TestBrowser(rig, '2001:db8::1');
    await browser.authorize();
    await browser.authorize();
    await begin(rig, 1, '2001:db8::2');
    await expect(browser.authorize()).rejects.toMatchObject(STOPPED);
  });

  test('of one browser, which a page of another site may send here, leave the limit of the network to others', async () => {
    const rig = await rigForThree();
    rig.signOn.browsers = new RateLimiter({ limit: 1, windowMs: 60_000 }, rig.clock.now);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    await browser.authorize();
    for (let time = 0; time < 5; time += 1) {
      await expect(browser.authorize()).rejects.toMatchObject({
        ...STOPPED,
        message: expect.stringMatching(/^This browser /),
        rateLimit: { limit: 1 },
      });
    }
    expect(await new TestBrowser(rig).authorize()).toMatchObject({ page: 'sign_in' });
    rig.clock.advance(60_000);
    expect(await browser.authorize()).toMatchObject({ page: 'sign_in' });
  });

  test.each([
    ['the network', 'strangers', () => '192.0.2.7'],
    ['the larger network', 'crowds', (time: number) => `2001:db8:0:${time}::1`],
  ] as const)(
    'are not counted by cookie, which anyone can make up, where %s is over its limit',
    async (...of) => {
      const [, limiter, addressOf] = of;
      const rig = await browserRig(under);
      rig.signOn[limiter] = new RateLimiter({ limit: 3, windowMs: 60_000 }, rig.clock.now);
      const taken: string[] = [];
      rig.signOn.browsers = {
        take: (cookie) => {
          taken.push(cookie);
          return { allowed: true, limit: 1, remaining: 1, resetSeconds: 1 };
        },
        standing: () => ({ limit: 1, remaining: 1, resetSeconds: 1 }),
      };
      for (let time = 0; time < 5; time += 1) {
        const browser = Object.assign(new TestBrowser(rig, addressOf(time)), { cookie: `made up ${time}` });
        await browser.authorize().catch(() => undefined);
      }
      expect(taken).toHaveLength(3);
    },
  );

  test('do not delay signed-in people, and are not counted where nothing is stored', async () => {
    const rig = await rigForThree();
    const browser = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
    for (let time = 0; time < 5; time += 1) {
      expect(answerOf(await new TestBrowser(rig).authorize({ prompt: 'none' }))).toHaveProperty('error');
      await new TestBrowser(rig).authorize({ redirectUri: 'https://elsewhere.example.com/' });
    }
    await begin(rig, 2);
    expect(codeOf(await browser.authorize())).toBeDefined();
  });
});

test.each([
  ['as it is', 'n'.repeat(1_024), 's'.repeat(4_000), 'ü'.repeat(200)],
  ['once it stands in an address', 'n', 'ü'.repeat(1_200), ''],
])(
  'a request that is too long %s is told so at once, and a little less is kept',
  async (_, nonce, state, loginHint) => {
    const rig = await browserRig(under);
    const asked = { nonce, state, loginHint };
    const before = await new TestBrowser(rig).authorize(asked);
    expect(before).toMatchObject({ page: 'sign_in' });
    const { interaction } = before as BrowserStep & { kind: 'page' };
    const kept = rig.signOn.interactionSeals.open(interaction);
    const { query } = { query: '', ...kept?.request };
    const claims = (length: number) => JSON.stringify({ x: 'y'.repeat(length) });
    const room = 8_000 - query.length - '&claims='.length - encodeURIComponent(claims(0)).length;
    const fits = await new TestBrowser(rig).authorize({ ...asked, claims: claims(room) });
    expect(fits).toMatchObject({ page: 'sign_in' });
    const step = await new TestBrowser(rig).authorize({ ...asked, claims: claims(room + 1) });
    expect(answerOf(step)).toMatchObject({ error: 'invalid_request', state });
  },
);
