import { describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { PasswordLinkPurpose } from '../../../generated/proto/integration/platform/v1/accounts.js';
import { apps, clientIds, demoEnvironment } from './demo-environment.js';
import { call } from './environment.js';
import { refusalOf } from './relying-party.js';

const environment = demoEnvironment();

const NEW_PASSWORD = 'seven quiet herons';

async function newLink(accountId: string, purpose: PasswordLinkPurpose): Promise<string> {
  const { url } = await environment.demo.platform.createPasswordLink({ accountId, purpose }, call());
  return url;
}

const newPerson = () => environment.demo.newPerson({ worker: [clientIds.tallowfern] });
const invited = () => environment.demo.newPerson({ worker: [clientIds.tallowfern], invited: true });

describe('the link of an invitation', () => {
  test('sets the password, shows that the address is theirs, and lets the person in', async () => {
    const { demo } = environment;
    const { accountId, email } = await invited();
    const link = await newLink(accountId, PasswordLinkPurpose.INVITATION);
    expect(link.startsWith(`${demo.url}/`)).toBe(true);
    const browser = demo.browser();
    const page = await browser.open(link);
    expect([page.heading, page.valueOf('email')]).toEqual(['Set a password', email]);
    const end = await browser.press(page, 'set-password', { password: NEW_PASSWORD });
    expect([end.status, end.heading]).toEqual([200, 'Your password is set']);

    const party = await demo.party(apps.dashboard);
    const tokens = await party.signIn(demo.browser(), { email, password: NEW_PASSWORD });
    expect(tokens.claims()).toMatchObject({ sub: accountId, email, email_verified: true });
    expect(demo.audited(accountId).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['link.created', 'password.set', 'email.verified', 'sign_in']),
    );
  });

  test('works once, however often it was looked at before', async () => {
    const { demo } = environment;
    const { accountId } = await invited();
    const link = await newLink(accountId, PasswordLinkPurpose.INVITATION);
    const browser = demo.browser();
    const pages = [await browser.open(link), await browser.open(link)] as const;
    expect(pages.map(({ heading }) => heading)).toEqual(['Set a password', 'Set a password']);
    const [first, second] = await Promise.all(
      pages.map((page) => browser.press(page, 'set-password', { password: NEW_PASSWORD })),
    );
    expect([first?.heading, second?.heading].sort()).toEqual([
      'This link does not work',
      'Your password is set',
    ]);
    const late = await browser.open(link);
    expect([late.status, late.heading]).toEqual([400, 'This link does not work']);
  });

  test.each([
    ['too short', 'q7-Rk2', 'too short'],
    ['among the first guesses', 'password123', 'most common'],
  ])(
    'does not take a password that is %s, says so beside the field, and stays good',
    async (_, password, said) => {
      const { demo } = environment;
      const { accountId } = await invited();
      const browser = demo.browser();
      const page = await browser.open(await newLink(accountId, PasswordLinkPurpose.INVITATION));
      const again = await browser.press(page, 'set-password', { password });
      expect([again.heading, again.text]).toEqual(['Set a password', expect.stringContaining(said)]);
      const end = await browser.press(again, 'set-password', { password: NEW_PASSWORD });
      expect(end.heading).toBe('Your password is set');
    },
  );

  test('ends when another one of its kind is made, and after its time', async () => {
    const { demo } = environment;
    const { accountId } = await invited();
    const browser = demo.browser();
    const first = await newLink(accountId, PasswordLinkPurpose.INVITATION);
    const second = await newLink(accountId, PasswordLinkPurpose.INVITATION);
    expect((await browser.open(first)).heading).toBe('This link does not work');
    expect((await browser.open(second)).heading).toBe('Set a password');
    demo.age('update account_links set expires_at = created_at where account_id = ?', accountId);
    expect((await browser.open(second)).heading).toBe('This link does not work');
  });
});

describe('the link of a reset', () => {
  test('ends all sessions and grants of the person, and the old password', async () => {
    const { demo } = environment;
    const person = await newPerson();
    const party = await demo.party(apps.dashboard);
    const browser = demo.browser();
    const tokens = await party.signIn(browser, person);
    const unexchanged = await party.tryToSignIn(browser);

    demo.markVerified(person);
    const mailbox = demo.browser();
    const page = await mailbox.open(await newLink(person.accountId, PasswordLinkPurpose.RESET));
    await mailbox.press(page, 'set-password', { password: NEW_PASSWORD });

    const refresh = client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    expect(await refusalOf(refresh)).toBe('invalid_grant');
    const userinfo = client.fetchUserInfo(party.config, tokens.access_token, person.accountId);
    expect(await refusalOf(userinfo)).toBe('invalid_token');
    expect(await refusalOf(party.exchange(unexchanged))).toBe('invalid_grant');
    const signIn = await party.pageOf(browser);
    expect(signIn.heading).toBe('Sign in');
    const { email, password } = person;
    const refused = await browser.press(signIn, 'sign-in', { email, password });
    expect(refused.text).toContain('or the password is wrong.');
    const fresh = await party.signIn(browser, { email, password: NEW_PASSWORD });
    expect(fresh.claims()?.sub).toBe(person.accountId);
  });
});

describe('the link that verifies an address', () => {
  const verificationLink = async (accountId: string) =>
    (await environment.demo.platform.createEmailVerificationLink({ accountId }, call())).url;

  test('makes it verified once the person has confirmed it, and not when it is only looked at', async () => {
    const { demo } = environment;
    const person = await newPerson();
    const party = await demo.party(apps.dashboard);
    const tokens = await party.signIn(demo.browser(), person);
    const isVerified = async () =>
      (await client.fetchUserInfo(party.config, tokens.access_token, person.accountId)).email_verified;
    const browser = demo.browser();
    const page = await browser.open(await verificationLink(person.accountId));
    expect([page.heading, await isVerified()]).toEqual(['Verify your email', false]);
    const end = await browser.press(page, 'verify');
    expect([end.heading, await isVerified()]).toEqual(['Your email address is verified', true]);
    // A double click sends the form twice.
    const again = await browser.press(page, 'verify');
    expect([again.status, again.heading]).toEqual([200, 'Your email address is verified']);
    const late = await browser.open(page.url);
    expect([late.status, late.heading]).toEqual([400, 'This link does not work']);
  });

  test('is good for nothing once the person has another address', async () => {
    const { demo } = environment;
    const person = await invited();
    const link = await verificationLink(person.accountId);
    await demo.platform.updateAccount({ accountId: person.accountId, email: `new.${person.email}` }, call());
    expect((await demo.browser().open(link)).heading).toBe('This link does not work');
  });

  test('sets no password', async () => {
    const { demo } = environment;
    const { accountId } = await invited();
    const link = new URL(await verificationLink(accountId));
    const password = new URL(await newLink(accountId, PasswordLinkPurpose.INVITATION));
    password.searchParams.set('token', link.searchParams.get('token') ?? '');
    expect((await demo.browser().open(password)).heading).toBe('This link does not work');
  });
});

test('a new address is asked for by a client, mailed as a link, confirmed with the password, and told to the old one', async () => {
  const { demo } = environment;
  const { platform } = demo;
  const person = await demo.newPerson({ user: [clientIds.tallowfern, clientIds.quillmere] });
  demo.markActive(person);
  const { accountId, password } = person;
  const email = `moreau.${person.email}`;
  const [userId = ''] = person.userIds;
  const wish = { $case: 'userId' as const, value: userId };
  const party = await demo.party(apps.dashboard);
  const browser = demo.browser();
  const tokens = await party.signIn(browser, person);

  const asked = await platform.updateUser({ userId, email }, call());
  expect([asked.user?.email, asked.user?.pendingEmail?.email]).toEqual([person.email, email]);
  const { account } = await platform.getAccount({ key: { $case: 'accountId', value: accountId } }, call());
  expect(account?.pendingEmails).toMatchObject([{ email, clientId: clientIds.tallowfern }]);
  const link = await platform.createEmailChangeLink({ wish }, call());
  expect([link.email, link.presentEmail]).toEqual([email, person.email]);

  const mailbox = demo.browser();
  const page = await mailbox.open(link.url);
  expect([page.heading, page.text]).toEqual(['Change your email', expect.stringContaining(email)]);
  expect(page.text).not.toContain(` ${person.email}`);
  const again = await mailbox.press(page, 'change-email', { password: 'a wrong guess' });
  expect([again.heading, again.text]).toEqual([
    'Change your email',
    expect.stringContaining('not the password'),
  ]);
  const userinfo = () => client.fetchUserInfo(party.config, tokens.access_token, accountId);
  expect((await userinfo()).email).toBe(person.email);

  const end = await mailbox.press(again, 'change-email', { password });
  expect(end.heading).toBe('Your email address has changed');
  expect(await refusalOf(userinfo())).toBe('invalid_token');
  for (const id of person.userIds) {
    const { user } = await platform.getUser({ userId: id }, call());
    expect([user?.email, user?.pendingEmail]).toEqual([email, undefined]);
  }
  expect((await mailbox.open(link.url)).heading).toBe('This link does not work');
  const fresh = await party.signIn(demo.browser(), { email, password });
  expect(fresh.claims()).toMatchObject({ sub: accountId, email, email_verified: true });

  const waiting = async () =>
    (await platform.listAccountNotices({ pageSize: 500, pageToken: '' }, call())).notices.filter(
      (notice) => notice.accountId === accountId,
    );
  const notices = await waiting();
  expect(notices).toMatchObject([{ kind: 'ACCOUNT_NOTICE_KIND_EMAIL_CHANGED', email: person.email }]);
  const noticeIds = notices.map(({ id }) => id);
  for (const _ of ['once', 'and once more']) {
    await platform.acknowledgeAccountNotices({ noticeIds }, call());
    expect(await waiting()).toEqual([]);
  }
});
