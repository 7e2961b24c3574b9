import { expect, test } from '@jest/globals';
import { instanceIds } from '../flow/sign-on/demo-environment.js';
import { describeWith } from '../support/toolchains.js';
import { emailLink, passwordLink } from './pages.js';
import { at, saidOfPassword, signOnInChromium } from './sign-on-in-chromium.js';

const PASSWORD = 'plum harbour lighthouse';

describeWith('chromium', 'mailed links in Chromium', (executable) => {
  const rig = signOnInChromium(executable);

  test.each([
    [
      'too short',
      'plum pear',
      'This password is too short: use 15 characters or more, such as four random words.',
    ],
    ['too long', 'plum pear '.repeat(26), 'This password is too long: use 256 characters or fewer.'],
    [
      'too common',
      'password123',
      'This password is one of the most common ones, or close to one. Choose something less usual, such as four random words.',
    ],
  ])(
    'a password that is %s is refused beside the field, and a better one is taken',
    async (_, poor, said) => {
      const { page } = await rig.visit();
      await page.goto(await passwordLink(rig));
      await page.fill('#password', poor);
      await page.click('#set-password');
      expect(await saidOfPassword(page)).toBe(said);
      const field = page.getByLabel('New password');
      expect(await field.getAttribute('aria-describedby')).toBe('password-error password-hint');
      expect(await field.inputValue()).toBe('');
      expect([...new URL(page.url()).searchParams.values()].join()).not.toContain(poor);
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Enter');
      await at(page, 'Your password is set');
    },
  );

  test('an invited person goes on to the application that says where signing in begins', async () => {
    const { page } = await rig.visit();
    await page.goto(await passwordLink(rig));
    await page.fill('#password', PASSWORD);
    await page.click('#set-password');
    await at(page, 'Your password is set');
    await page.getByRole('link', { name: 'Sign in to Rota Planner' }).click();
    await at(page, 'Welcome back');
    const { pathname, searchParams } = new URL(page.url());
    expect([pathname, searchParams.get('iss')]).toEqual(['/sign-in', rig.demo.url]);
    expect(searchParams.get('instance_id')).toBe(instanceIds.harborlight);
    expect(await page.evaluate('document.referrer')).toBe('');
  });

  test('a link that was used says so when it is opened again', async () => {
    const { page } = await rig.visit();
    const link = await passwordLink(rig);
    await page.goto(link);
    await page.fill('#password', PASSWORD);
    await page.click('#set-password');
    await at(page, 'Your password is set');
    await page.goto(link);
    await at(page, 'This link does not work');
    const said = () => page.locator('.lead').innerText();
    const used = await said();
    expect(used).toMatch(/If you have used it, it has done its work.* ask its sender for a new one\.$/);
    // The page of a link without its last letter is the same: it does not tell a guess whether it is right.
    await page.goto(link.slice(0, -1));
    await at(page, 'This link does not work');
    expect(await said()).toBe(used);
  });

  test('the email of the account is there for the password manager, and cannot be changed', async () => {
    const { page } = await rig.visit();
    await page.goto(await passwordLink(rig));
    const email = page.getByLabel('Email');
    expect(await email.inputValue()).toMatch(/^person\..*@tallowfern\.example\.com$/);
    expect(await email.isEditable()).toBe(false);
    expect(await email.getAttribute('autocomplete')).toBe('username');
  });

  test('an email is verified by a click, as often as the page was looked at before, and once', async () => {
    const { page } = await rig.visit();
    const link = await emailLink(rig);
    await page.goto(link);
    await page.reload();
    await page.click('#verify');
    await at(page, 'Your email address is verified');
    await page.reload();
    await at(page, 'Your email address is verified');
    await page.goto(link);
    await at(page, 'This link does not work');
  });
});
