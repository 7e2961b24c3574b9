import { expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { apps, clientIds, demoEnvironment } from './demo-environment.js';
import { call } from './environment.js';
import { refusalOf } from './relying-party.js';

const environment = demoEnvironment();

test('a new address is asked for by a client, mailed as a link, confirmed with the password, and told to the old one', async () => {
  const { demo } = environment;
  const { platform } = demo;
  const person = await demo.newPerson({ user: [clientIds.tallowfern, clientIds.quillmere] });
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
  expect((await mailbox.open(link.url)).heading).toBe('Something went wrong');
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
