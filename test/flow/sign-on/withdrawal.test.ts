import { describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { clientIds, type DemoEnvironment, demoEnvironment } from './demo-environment.js';
import { call, type Person } from './environment.js';
import { type RegisteredApplication, refusalOf } from './relying-party.js';

const environment = demoEnvironment();
const { tallowfern, quillmere, ostrander } = clientIds;

interface Withdrawal {
  what: string;
  withdraw(demo: DemoEnvironment, person: Person, application: RegisteredApplication): Promise<unknown>;
  /** What the token endpoint says from then on, and introspection. */
  refusal: string;
  introspected: unknown;
  /** What a browser with a session meets: an error that the application hears, or a page. */
  meets: string;
  /** What the right password leads to. */
  passwordLeadsTo: string;
}

const NO_ACCESS = 'has no access to';

const withdrawals: Withdrawal[] = [
  {
    what: 'user that is disabled',
    withdraw: ({ platform }, { userIds: [userId = ''] }) => platform.disableUser({ userId }, call()),
    refusal: 'invalid_grant',
    introspected: { active: false },
    meets: NO_ACCESS,
    passwordLeadsTo: NO_ACCESS,
  },
  {
    what: 'user that is deleted',
    withdraw: ({ platform }, { userIds: [userId = ''] }) => platform.deleteUser({ userId }, call()),
    refusal: 'invalid_grant',
    introspected: { active: false },
    meets: NO_ACCESS,
    passwordLeadsTo: NO_ACCESS,
  },
  {
    what: 'worker who is offboarded',
    withdraw: ({ platform }, { workerIds: [workerId = ''] }) => platform.offboardWorker({ workerId }, call()),
    refusal: 'invalid_grant',
    introspected: { active: false },
    meets: NO_ACCESS,
    passwordLeadsTo: NO_ACCESS,
  },
  {
    what: 'person who is disabled',
    withdraw: ({ platform }, { accountId }) => platform.disableAccount({ accountId }, call()),
    refusal: 'invalid_grant',
    introspected: { active: false },
    meets: 'to continue to',
    passwordLeadsTo: 'or the password is wrong.',
  },
  {
    what: 'application that is disabled',
    withdraw: ({ operator }, _, { clientId: applicationId }) =>
      operator.disableApplication({ applicationId }, call()),
    refusal: 'unauthorized_client',
    introspected: 'unauthorized_client',
    meets: 'unauthorized_client',
    passwordLeadsTo: 'unauthorized_client',
  },
];

describe.each(withdrawals)('a $what', ({ what, withdraw, refusal, introspected, meets, passwordLeadsTo }) => {
  /** Signed in, with tokens, a code that is not exchanged yet, and a page that is not filled in yet. */
  async function underWay() {
    const { demo } = environment;
    const person = await demo.newPerson(
      what.startsWith('worker') ? { worker: [tallowfern] } : { user: [tallowfern] },
    );
    const application = await demo.newDemoApplication();
    const party = await demo.party(application);
    const browser = demo.browser();
    const tokens = await party.signIn(browser, person);
    const unexchanged = await party.tryToSignIn(browser);
    const elsewhere = demo.browser();
    const page = await party.pageOf(elsewhere);
    await withdraw(demo, person, application);
    return { demo, person, party, browser, tokens, unexchanged, elsewhere, page };
  }

  test('stops working at the exchange, refresh, userinfo and introspection at once', async () => {
    const { party, tokens, unexchanged } = await underWay();
    expect(await refusalOf(party.exchange(unexchanged))).toBe(refusal);
    const refresh = client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    expect(await refusalOf(refresh)).toBe(refusal);
    const userinfo = client.fetchUserInfo(party.config, tokens.access_token, tokens.claims()?.sub ?? '');
    expect(await refusalOf(userinfo)).toBe('invalid_token');
    const asked = client.tokenIntrospection(party.config, tokens.access_token);
    expect(typeof introspected === 'string' ? await refusalOf(asked) : await asked).toEqual(introspected);
  });

  test('stops working at the sign-in, with a session and with the right password', async () => {
    const { party, person, browser, elsewhere, page } = await underWay();
    const met = await party.pageOf(browser);
    expect(met.hasLeft ? met.url.searchParams.get('error') : met.text).toContain(meets);
    expect(met.url.searchParams.has('code')).toBe(false);
    const { email, password } = person;
    const led = await elsewhere.press(page, 'sign-in', { email, password });
    expect(led.hasLeft ? led.url.searchParams.get('error') : led.text).toContain(passwordLeadsTo);
    expect(led.url.searchParams.has('code')).toBe(false);
  });
});

test('a disabled user of the demo cannot sign in', async () => {
  const { demo } = environment;
  const browser = demo.browser();
  const party = await demo.party('Harborlight Dashboard');
  const { email, password } = demo.demoPerson('disabled');
  const page = await browser.press(await party.pageOf(browser), 'sign-in', { email, password });
  expect([page.heading, page.text]).toEqual(['Sign in', expect.stringContaining(NO_ACCESS)]);
});

test('one of several users that is disabled leaves the claims, and the others continue', async () => {
  const { demo } = environment;
  const person = await demo.newPerson({ user: [tallowfern, quillmere, ostrander] });
  const [gone = '', left = ''] = person.userIds;
  const party = await demo.party(await demo.newDemoApplication());
  const tokens = await party.signIn(demo.browser(), { ...person, context: `USER:${tallowfern}` });
  await demo.platform.disableUser({ userId: gone }, call());
  const refreshed = await client.refreshTokenGrant(party.config, tokens.refresh_token as string);
  const userinfo = await client.fetchUserInfo(party.config, refreshed.access_token, person.accountId);
  expect(userinfo).toMatchObject({
    userIds: [{ id: left, clientId: quillmere }],
    lastLoginContext: { userType: 'USER', clientId: quillmere },
  });
});
