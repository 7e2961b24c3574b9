import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DemoFilePerson } from '../../src/cli/demo/demo-file.js';
import { eventually } from '../support/eventually.js';
import { type Exchange, exchange } from '../support/http-exchange.js';
import { serviceProcesses } from '../support/service-process.js';
import { untilAnswered } from '../support/turned-away.js';
import { AttackedService, BEHIND_PROXY, basicOf } from './attacked-service.js';
import { guessAtOnce } from './guesses.js';
import { encoded, FORM, newAddress, type UserAgent } from './user-agent.js';

const PER_ACCOUNT = 10;
const PER_ADDRESS = 100;
const WINDOW_SECONDS = 15 * 60;

const services = serviceProcesses();
let attacked: AttackedService;
let attacker: UserAgent;
/** Of the attacker's own sign-in page, which they may fill in as often as they like. */
let hidden: Record<string, string>;

beforeAll(async () => {
  attacked = new AttackedService(await services.start(BEHIND_PROXY));
  attacker = attacked.userAgent();
  hidden = await attacked.signInPage(attacker);
});

function guessOnce(email: string, password: string, address: string): Promise<Exchange> {
  const headers = { 'x-forwarded-for': address };
  return attacker.post('/auth/sign-in', { ...hidden, email, password }, headers);
}

/** Guesses that the service was too busy to answer: each may have counted and been checked all the same. */
let busy = 0;
beforeEach(() => {
  busy = 0;
});

/** Repeated while the service is too busy. */
function guess(email: string, password: string, address: string): Promise<Exchange> {
  return eventually('an answer to a guess', async () => {
    const answer = await guessOnce(email, password, address);
    busy += answer.status === 503 ? 1 : 0;
    return answer.status !== 503 && answer;
  });
}

/** Makes more guesses than are free, each from a different address. */
async function expectLimited(emailOf: (index: number) => string, guesses = 2 * PER_ACCOUNT): Promise<void> {
  const { checked, refused } = await guessAtOnce(guesses, (index) =>
    guessOnce(emailOf(index), `guess-${index}`, newAddress()),
  );
  expect(checked.filter(({ status }) => status !== 303)).toEqual([]);
  refused.forEach(expectToWait);
}

/** A sign-in as the person themselves make it. */
async function signsIn({ email, password }: DemoFilePerson, userAgent: UserAgent): Promise<boolean> {
  const answer = await untilAnswered(async () => {
    const fields = { ...(await attacked.signInPage(userAgent)), email, password };
    return userAgent.post('/auth/sign-in', fields);
  });
  return answer.headers.location?.includes('code=') ?? false;
}

function expectToWait(answer: Exchange): void {
  expect(answer.status).toBe(429);
  const seconds = Number(answer.headers['retry-after']);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(WINDOW_SECONDS);
  expect(answer.headers['set-cookie']).toBeUndefined();
}

describe('guesses at one person', () => {
  test('a hundred at once, each from a different address, are checked ten times, and do not lock out the person', async () => {
    const victim = attacked.person('no access to Juniper');
    const own = attacked.userAgent(newAddress());
    const signInAtHome = async () => {
      const isSignedIn = await signsIn(victim, own);
      own.cookies.delete('integration_session_demo');
      return isSignedIn;
    };
    expect(await signInAtHome()).toBe(true);

    await expectLimited(() => victim.email, 100);
    expect(await signsIn(attacked.person('makes it ACTIVE'), attacked.userAgent())).toBe(true);

    // Even the right password is not looked at from elsewhere, or the limit would say which one it is.
    expectToWait(await guess(victim.email, victim.password, newAddress()));
    expect(await signInAtHome()).toBe(true);
  });

  test('are counted under one name however the address is written', async () => {
    const { email } = attacked.person('worker of Tallowfern only');
    const spellings = [email, email.toUpperCase(), ` ${email}`, `${email} `];
    await expectLimited((index) => spellings[index % spellings.length] as string);
  });

  test('are limited alike for people who exist and people who do not', async () => {
    await expectLimited(() => 'nobody-at-all@tallowfern-office.example.com');
  });
});

describe('who guesses from', () => {
  const own = newAddress();
  test.each<[string, (index: number) => string]>([
    ['one address', () => own],
    ['any address of an IPv6 subnet', (index) => `2001:db8:1:2::${index}`],
  ])('%s is stopped after a hundred, for any account, without effect on others', async (_, addressAt) => {
    const statuses: number[] = [];
    for (let index = 0; index < PER_ADDRESS + 10; index += 10) {
      const batch = Array.from({ length: 10 }, (_, more) =>
        guess(`person-${index + more}@evil.example`, 'guess', addressAt(index + more)),
      );
      statuses.push(...(await Promise.all(batch)).map(({ status }) => status));
    }
    const refused = (some: readonly number[]) => some.filter((status) => status === 429).length;
    expect(refused(statuses)).toBeGreaterThanOrEqual(10);
    expect(refused(statuses)).toBeLessThanOrEqual(10 + busy);
    expect(refused(statuses.slice(0, PER_ADDRESS))).toBeLessThanOrEqual(busy);
    expectToWait(await guess('another@evil.example', 'guess', addressAt(1)));
    expect(await signsIn(attacked.person('makes it ACTIVE'), attacked.userAgent(addressAt(2)))).toBe(false);
    expect((await guess('another@evil.example', 'guess', newAddress())).status).toBe(303);
  });
});

describe('whether a person exists', () => {
  const kinds: readonly [who: string, email: () => string][] = [
    ['a person with a wrong password', () => attacked.person('invited user and worker').email],
    ['a person who is disabled', () => attacked.person('disabled user').email],
    ['nobody', () => 'nobody-again@tallowfern-office.example.com'],
    ['a member of every object', () => '__proto__@tallowfern-office.example.com'],
    ['a pattern of SQL', () => '%@tallowfern-office.example.com'],
  ];

  test('is not disclosed by the answer', async () => {
    const shown: string[] = [];
    for (const [, email] of kinds) {
      const userAgent = attacked.userAgent();
      const { interaction = '', csrf_token = '' } = await attacked.signInPage(userAgent);
      const fields = { interaction, csrf_token, email: email(), password: 'wrong' };
      const answer = await userAgent.post('/auth/sign-in', fields);
      const page = await userAgent.follow(answer);
      const [main = ''] = /<main.*<\/main>/s.exec(page.body) ?? [];
      const { status, headers } = answer;
      const told = JSON.stringify([status, Object.keys(headers), headers.location, page.status, main]);
      const own = [interaction, csrf_token, email()];
      // The page after a refusal has another `interaction`, which is sealed.
      const opaque = told.replaceAll(/[A-Za-z0-9_-]{100,}/g, '…');
      shown.push(own.reduce((text, part) => text.replaceAll(part, '…'), opaque));
    }
    expect(shown[0]).toMatch(/address or the password is wrong/);
    expect(shown).toEqual(shown.map(() => shown[0]));
  });

  test('is not disclosed by the duration: each attempt checks one password', async () => {
    const { opsUrl } = attacked.service;
    // A busy machine may leave out a role that answers late.
    const passwordsChecked = () =>
      eventually('how many passwords were checked', async () => {
        const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
        return /^password_job_duration_seconds_count{role="domain"} (\d+)$/m.exec(metrics)?.[1];
      }).then(Number);
    for (const [who, email] of kinds) {
      const [before, late] = [await passwordsChecked(), busy];
      expect((await guess(email(), 'wrong', newAddress())).status).toBe(303);
      const count = (await passwordsChecked()) - before;
      expect([who, count >= 1 && count <= 1 + busy - late]).toEqual([who, true]);
    }
  });
});

describe('guesses at the secret of an application', () => {
  // Repeated while the service is too busy: the domain has not counted what waited too long at the edge.
  const tokenRequest = (authorization: string, address: string) =>
    untilAnswered(() =>
      exchange(attacked.port, '/auth/token', {
        method: 'POST',
        headers: { 'content-type': FORM, 'x-forwarded-for': address, authorization },
        body: encoded({ grant_type: 'refresh_token', refresh_token: 'x' }),
      }),
    );

  test('are stopped for their caller only', async () => {
    const address = newAddress();
    const wrong = basicOf({ ...attacked.portal, clientSecret: `cs_demo_${'x'.repeat(48)}` });
    let answer = await tokenRequest(wrong, address);
    for (let count = 1; answer.status === 401 && count < 70; count += 1) {
      answer = await tokenRequest(wrong, address);
    }
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect((await tokenRequest(basicOf(attacked.portal), newAddress())).status).toBe(400);
  });

  test('are stopped too when they are made at once', async () => {
    const address = newAddress();
    const wrong = basicOf({ ...attacked.portal, clientSecret: `cs_demo_${'x'.repeat(48)}` });
    const answers = await Promise.all(Array.from({ length: 100 }, () => tokenRequest(wrong, address)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
  });

  test('are answered alike for an application that exists and for one that does not', async () => {
    const clientSecret = `cs_demo_${'x'.repeat(48)}`;
    const [known, unknown] = await Promise.all([
      tokenRequest(basicOf({ ...attacked.portal, clientSecret }), newAddress()),
      tokenRequest(
        basicOf({ ...attacked.portal, clientId: 'app_AAAAAAAAAAAAAAAAAAAAAA', clientSecret }),
        newAddress(),
      ),
    ]);
    expect([known?.status, known?.body]).toEqual([unknown?.status, unknown?.body]);
  });
});
