import type { Page } from 'playwright-core';
import { PasswordLinkPurpose } from '../../generated/proto/integration/platform/v1/accounts.js';
import { clientIds } from '../flow/sign-on/demo-environment.js';
import { call, type Person } from '../flow/sign-on/environment.js';
import {
  at,
  choicesReady,
  fillSignIn,
  heading,
  logoLoaded,
  pressAllow,
  type SignOnInChromium,
  STAYS,
} from './sign-on-in-chromium.js';

/** The way to a page; the address of who is asked about is as long as addresses are. */
type Way = (page: Page, rig: SignOnInChromium) => Promise<void>;

const { tallowfern, quillmere } = clientIds;

async function toSignIn(page: Page, rig: SignOnInChromium, parameters = {}): Promise<void> {
  await page.goto(rig.authorization(parameters));
  await at(page, 'Sign in');
}

const toChoice: Way = async (page, rig) => {
  await toSignIn(page, rig);
  const memberships = { user: [tallowfern, quillmere], worker: [tallowfern] };
  await fillSignIn(page, await rig.demo.newPerson(memberships));
  await at(page, 'Continue as');
};

const toConsent: Way = async (page, rig) => {
  await toSignIn(page, rig);
  await fillSignIn(page, await rig.demo.newPerson({ worker: [tallowfern] }));
  await at(page, /^Allow /);
  await logoLoaded(page);
};

export async function passwordLink(
  { demo }: SignOnInChromium,
  purpose = PasswordLinkPurpose.INVITATION,
): Promise<string> {
  const person = await demo.newPerson({ worker: [tallowfern], invited: true });
  if (purpose === PasswordLinkPurpose.RESET) {
    demo.markVerified(person);
  }
  const { accountId } = person;
  return (await demo.platform.createPasswordLink({ accountId, purpose }, call())).url;
}

/** To take another address, which a client of theirs asked for. */
export async function emailChangeLink({ demo }: SignOnInChromium, person?: Person): Promise<string> {
  const signedIn = person ?? (await demo.newPerson({ user: [tallowfern] }));
  demo.markActive(signedIn);
  const { userIds, email } = signedIn;
  const userId = userIds[0] ?? '';
  await demo.platform.updateUser({ userId, email: `new.${email}` }, call());
  const wish = { $case: 'userId' as const, value: userId };
  return (await demo.platform.createEmailChangeLink({ wish }, call())).url;
}

export async function emailLink({ demo }: SignOnInChromium): Promise<string> {
  const { accountId } = await demo.newPerson({ worker: [tallowfern] });
  return (await demo.platform.createEmailVerificationLink({ accountId }, call())).url;
}

const withPassword =
  (password: string, title: string): Way =>
  async (page, rig) => {
    await page.goto(await passwordLink(rig));
    await page.fill('#password', password);
    await page.click('#set-password');
    await at(page, title);
  };

const toSignOut: Way = async (page, rig) => {
  await toConsent(page, rig);
  await pressAllow(page);
  await rig.returned(page);
  await page.goto(`${rig.demo.url}/auth/logout?client_id=${rig.clientId}`);
  await at(page, /Sign out/);
};

/** Every page there is, in each state that looks different. */
export const pages: Record<string, Way> = {
  'sign in': toSignIn,
  'sign in, wrong password': async (page, rig) => {
    await toSignIn(page, rig);
    await fillSignIn(page, { ...rig.demo.demoPerson('four'), password: 'wrong' });
    await page.getByRole('alert').waitFor();
  },
  'sign in, no access': async (page, rig) => {
    await toSignIn(page, rig);
    await fillSignIn(page, rig.demo.demoPerson('juniper'));
    await page.getByRole('alert').waitFor();
  },
  'locked out': async (page, rig) => {
    await toSignIn(page, rig);
    const person = await rig.demo.newPerson({ worker: [tallowfern] });
    // The first ten attempts are free. On a slow machine, further turns come before the next attempt.
    for (let attempt = 0; attempt < 40 && (await heading(page)) === 'Sign in'; attempt += 1) {
      const answered = page.waitForEvent('domcontentloaded');
      await fillSignIn(page, { ...person, password: 'wrong' });
      await answered;
    }
    await at(page, 'Please wait before you try again');
  },
  'choose context': toChoice,
  'choose context, refused': async (page, rig) => {
    const person = await rig.demo.newPerson({ user: [tallowfern, quillmere], worker: [tallowfern] });
    await toSignIn(page, rig);
    await fillSignIn(page, person);
    await at(page, 'Continue as');
    await rig.demo.platform.deleteUser({ userId: person.userIds[1] ?? '' }, call());
    await choicesReady(page);
    await page.click(`button[value="USER:${quillmere}"]`);
    await page.getByRole('alert').waitFor();
  },
  'choose context, one used last': async (page, rig) => {
    const person = await rig.demo.newPerson({ user: [tallowfern, quillmere], worker: [tallowfern] });
    await toSignIn(page, rig);
    await fillSignIn(page, person);
    await at(page, 'Continue as');
    await choicesReady(page);
    await page.locator('button[name=context]').last().click();
    await pressAllow(page);
    await rig.returned(page);
    await toSignIn(page, rig, { prompt: 'login' });
    await fillSignIn(page, person);
    await at(page, 'Continue as');
  },
  consent: toConsent,
  'answer in a form': async (page, rig) => {
    const address = rig.authorization({ response_mode: 'form_post', state: STAYS, prompt: 'none' });
    // The form is sent before the page has loaded, and the answer without a page stops that.
    await page.goto(address, { waitUntil: 'commit' });
    await at(page, 'Back to Rota Planner');
  },
  'sign out': toSignOut,
  'signed out': async (page, rig) => {
    await toSignOut(page, rig);
    await page.click('#sign-out');
    await at(page, 'You are signed out');
  },
  'set password, invitation': async (page, rig) => {
    await page.goto(await passwordLink(rig));
  },
  'set password, reset': async (page, rig) => {
    await page.goto(await passwordLink(rig, PasswordLinkPurpose.RESET));
  },
  'set password, too short': withPassword('plum harbour', 'Set a password'),
  'set password, too common': withPassword('password123', 'Set a password'),
  'password set': withPassword('plum harbour lighthouse', 'Your password is set'),
  'verify email': async (page, rig) => {
    await page.goto(await emailLink(rig));
  },
  'email verified': async (page, rig) => {
    await page.goto(await emailLink(rig));
    await page.click('#verify');
    await at(page, 'Your email address is verified');
  },
  'change email': async (page, rig) => {
    await page.goto(await emailChangeLink(rig));
  },
  'change email, wrong password': async (page, rig) => {
    await page.goto(await emailChangeLink(rig));
    await page.fill('#password', 'wrong');
    await page.click('#change-email');
    await page.getByRole('alert').waitFor();
  },
  'email changed': async (page, rig) => {
    const person = await rig.demo.newPerson({ user: [tallowfern] });
    await page.goto(await emailChangeLink(rig, person));
    await page.fill('#password', person.password);
    await page.click('#change-email');
    await at(page, 'Your email address has changed');
  },
  'error, unknown application': async (page, rig) => {
    await page.goto(rig.authorization({ client_id: 'app_unknown' }));
  },
  'error, sign-out': async (page, rig) => {
    const query = new URLSearchParams({
      client_id: rig.clientId,
      post_logout_redirect_uri: 'https://x.example.com',
    });
    await page.goto(`${rig.demo.url}/auth/logout?${query}`);
    await page.getByRole('link', { name: 'Sign out' }).waitFor();
  },
  'error, stale page': async (page, rig) => {
    await toSignIn(page, rig);
    await page.context().clearCookies();
    await page.reload();
    await at(page, 'This page is no longer open');
  },
  'error, used link': async (page, rig) => {
    await page.goto(`${rig.demo.url}/auth/set-password?token=${'x'.repeat(43)}`);
    await at(page, 'This link does not work');
  },
};
