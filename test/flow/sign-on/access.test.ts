import { describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { operations } from '../../../generated/openapi/sign-on-operations.js';
import { apps, clientIds, type DemoEnvironment, demoEnvironment } from './demo-environment.js';
import { call, type Person } from './environment.js';
import { type RegisteredApplication, refusalOf, type Tokens } from './relying-party.js';

const environment = demoEnvironment();
const { tallowfern, quillmere, ostrander } = clientIds;

const statusOf = (userId: string) =>
  environment.demo.rows<{ status: string }>('select status from users where id = ?', userId)[0]?.status;

/** What the platform and its integrations learn of a user. */
const eventsOf = (userId: string) =>
  environment.demo
    .rows<{ type: string; data: string }>(
      'select type, data from events where entity_id = ? order by seq',
      userId,
    )
    .map(({ type, data }) => `${type} ${JSON.parse(data).status}`);

const claimsOf = (tokens: Tokens) => tokens.claims() as Record<string, unknown>;

describe('the first sign-in of a person', () => {
  test('makes the user that was chosen ACTIVE, with one event, and no other', async () => {
    const { demo } = environment;
    const person = await demo.newPerson({ user: [tallowfern, quillmere, ostrander] });
    const [atTallowfern = '', atQuillmere = '', atOstrander = ''] = person.userIds;
    const party = await demo.party(apps.dashboard);
    const tokens = await party.signIn(demo.browser(), { ...person, context: `USER:${quillmere}` });
    expect([atTallowfern, atQuillmere, atOstrander].map(statusOf)).toEqual(['INVITED', 'ACTIVE', 'INVITED']);
    expect(eventsOf(atTallowfern)).toEqual(['user.created INVITED']);
    expect(eventsOf(atQuillmere)).toEqual(['user.created INVITED', 'user.updated ACTIVE']);
    expect(eventsOf(atOstrander)).toEqual(['user.created INVITED']);
    expect(claimsOf(tokens)).toMatchObject({
      userIds: expect.arrayContaining([
        { id: atTallowfern, clientId: tallowfern },
        { id: atQuillmere, clientId: quillmere },
      ]),
      lastLoginContext: { userType: 'USER', clientId: quillmere },
    });
    await party.signIn(demo.browser(), person);
    expect(eventsOf(atQuillmere)).toHaveLength(2);
  });

  test('that ends at a page activates no user', async () => {
    const { demo } = environment;
    const person = await demo.newPerson({ user: [tallowfern] });
    const party = await demo.party(apps.portal);
    const denied = await party.tryToSignIn(demo.browser(), { ...person, decision: 'deny' });
    expect(denied.returned.searchParams.get('error')).toBe('access_denied');
    expect(statusOf(person.userIds[0] as string)).toBe('INVITED');
  });
});

describe('single sign-on', () => {
  test('to a second application shows no page but the question whether it may', async () => {
    const { demo } = environment;
    const person = await demo.newPerson({ worker: [tallowfern] });
    const browser = demo.browser();
    const first = await (await demo.party(apps.dashboard)).tryToSignIn(browser, person);
    const second = await (await demo.party(apps.shiftwise)).tryToSignIn(browser);
    const third = await (await demo.party(apps.dashboard)).tryToSignIn(browser);
    expect([first.pages, second.pages, third.pages]).toEqual([['Sign in'], ['Allow'], []]);
    expect(third.returned.searchParams.has('code')).toBe(true);
  });

  test('to a second instance asks as whom the person goes on there, and is a first sign-in', async () => {
    const { demo } = environment;
    const person = await demo.newPerson({ user: [tallowfern, ostrander] });
    const [atTallowfern = '', atOstrander = ''] = person.userIds;
    const browser = demo.browser();
    const here = await demo.party(apps.dashboard);
    const there = await demo.party(apps.dashboard, { instance: 'juniper' });
    const first = claimsOf(await here.signIn(browser, person));
    expect([first.userIds, statusOf(atOstrander)]).toEqual([
      [{ id: atTallowfern, clientId: tallowfern }],
      'INVITED',
    ]);
    const tried = await there.tryToSignIn(browser);
    const second = claimsOf(await there.exchange(tried));
    expect([tried.pages, second.sub]).toEqual([['Continue as'], first.sub]);
    expect([second.userIds, second.lastLoginContext]).toEqual([
      [{ id: atOstrander, clientId: ostrander }],
      { userType: 'USER', clientId: ostrander },
    ]);
    expect(eventsOf(atOstrander)).toEqual(['user.created INVITED', 'user.updated ACTIVE']);
  });

  test('to an instance where the person has no access says so, and lets another account in', async () => {
    const { demo } = environment;
    const person = await demo.newPerson({ user: [tallowfern] });
    const browser = demo.browser();
    await (await demo.party(apps.dashboard)).signIn(browser, person);
    const there = await demo.party(apps.dashboard, { instance: 'juniper' });
    const page = await there.pageOf(browser);
    expect([page.heading, page.text]).toEqual(['Sign in', expect.stringContaining('has no access to')]);
    const silent = await there.tryToSignIn(browser, {}, { prompt: 'none' });
    expect(silent.returned.searchParams.get('error')).toBe('access_denied');
    const left = await browser.press(page, 'cancel');
    expect([left.hasLeft, left.url.origin + left.url.pathname]).toEqual([true, there.redirectUri]);
    expect(left.url.searchParams.get('error')).toBe('access_denied');
    const other = await there.tryToSignIn(browser, demo.demoPerson('juniper'));
    expect(other.returned.searchParams.has('code')).toBe(true);
  });
});

describe('a person with several contexts', () => {
  test('chooses one for the session, finds it first at the next sign-in, and is not asked where no page may be shown', async () => {
    const { demo } = environment;
    const person = await demo.newPerson({ user: [tallowfern, quillmere], worker: [quillmere] });
    const browser = demo.browser();
    const party = await demo.party(apps.dashboard);
    const choose = await browser.press(await party.pageOf(browser), 'sign-in', {
      email: person.email,
      password: person.password,
    });
    expect(choose.choices('context').sort()).toEqual(
      [`USER:${tallowfern}`, `USER:${quillmere}`, `WORKER:${quillmere}`].sort(),
    );
    expect(choose.text).not.toContain('Last used');
    const silent = await party.tryToSignIn(browser, {}, { prompt: 'none' });
    expect(silent.returned.searchParams.get('error')).toBe('interaction_required');

    const chosen = { userType: 'WORKER', clientId: quillmere };
    const first = await party.signIn(browser, { context: `WORKER:${quillmere}` });
    expect(claimsOf(first).lastLoginContext).toEqual(chosen);
    const unasked = await party.tryToSignIn(browser, {});
    expect(unasked.pages).not.toContain('Continue as');
    const asked = await party.pageOf(browser, { prompt: 'login' });
    const again = await browser.press(asked, 'sign-in', { email: person.email, password: person.password });
    expect([again.choices('context')[0], again.text]).toEqual([
      `WORKER:${quillmere}`,
      expect.stringContaining('Last used'),
    ]);
    const remembered = await party.signIn(browser, {}, { prompt: 'none' });
    expect(claimsOf(remembered).lastLoginContext).toEqual(chosen);
  });

  test('cannot choose one that is not theirs', async () => {
    const { demo } = environment;
    const person = await demo.newPerson({ user: [tallowfern], worker: [tallowfern] });
    const browser = demo.browser();
    const party = await demo.party(apps.dashboard);
    const { email, password } = person;
    const page = await browser.press(await party.pageOf(browser), 'sign-in', { email, password });
    const foreign = await browser.post(
      operations.chooseContext.path,
      {
        interaction: page.valueOf('interaction') ?? '',
        csrf_token: page.valueOf('csrf_token') ?? '',
        context: `USER:${quillmere}`,
      },
      'same-origin',
    );
    expect([foreign.hasLeft, foreign.heading]).toEqual([false, 'Continue as']);
    expect(foreign.text).toContain('You no longer have this role.');
  });
});

test('consent is asked for once for what is asked, again for more, and again on request', async () => {
  const { demo } = environment;
  const person = await demo.newPerson({ worker: [tallowfern] });
  const party = await demo.party(await demo.newDemoApplication({ firstParty: false }));
  const browser = demo.browser();
  const pagesFor = async (parameters: Record<string, string>) =>
    (await party.tryToSignIn(browser, person, parameters)).pages;
  expect(await pagesFor({ scope: 'openid email' })).toEqual(['Sign in', 'Allow']);
  expect(await pagesFor({ scope: 'openid email' })).toEqual([]);
  expect(await pagesFor({ scope: 'openid' })).toEqual([]);
  expect(await pagesFor({ scope: 'openid profile' })).toEqual(['Allow']);
  expect(await pagesFor({ scope: 'openid profile email' })).toEqual([]);
  expect(await pagesFor({ scope: 'openid', prompt: 'consent' })).toEqual(['Allow']);
  const silent = await party.tryToSignIn(browser, {}, { prompt: 'none' });
  expect(silent.returned.searchParams.has('code')).toBe(true);
});

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
