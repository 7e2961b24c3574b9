import { describe, expect, test } from '@jest/globals';
import { setApplicationEnabled } from '../../../../src/domain/operator/applications.js';
import type { BrowserStep } from '../../../../src/domain/sign-on/sessions/browser.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { AFTER_LOGOUT, type BrowserRig, browserRig, newPerson } from '../browser-rig.js';
import { signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');

/** The same browser, at a service that can make no transaction that writes. */
function looking(rig: BrowserRig, { cookie }: Partial<TestBrowser> = {}): TestBrowser {
  const { unitOfWork } = rig.signOn;
  const run = () => Promise.reject(new Error('It asks for a transaction.'));
  return Object.assign(
    new TestBrowser({ ...rig, signOn: { ...rig.signOn, unitOfWork: { ...unitOfWork, run } } }),
    {
      cookie,
    },
  );
}

/** Other sites can send a browser there as often as they like, and writes wait for each other. */
describe('no transaction is asked for', () => {
  test('where a stranger begins to sign in, or signs out', async () => {
    const browser = looking(await browserRig(under));
    expect(await browser.authorize()).toMatchObject({ page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject({ kind: 'sign_in' });
    expect(await browser.logout({ postLogoutRedirectUri: '' })).toMatchObject({ page: 'signed_out' });
  });

  test('where a person is asked whether to sign out', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = looking(rig, await signedInBrowser(rig, person));
    const target = { clientId: rig.applicationId, postLogoutRedirectUri: AFTER_LOGOUT };
    expect(await browser.logout(target)).toMatchObject({ page: 'sign_out' });
    expect(await browser.show('sign_out')).toMatchObject({ accountEmail: person.email });
  });

  test('where a person is asked to sign in again, or to allow the application', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = looking(rig, await signedInBrowser(rig, person));
    expect(await browser.authorize({ prompt: 'login' })).toMatchObject({ page: 'sign_in' });
    const clientId = await rig.newApplication({ firstParty: false });
    expect(await browser.authorize({ clientId })).toMatchObject({ page: 'consent' });
    expect(await browser.show('consent')).toMatchObject({ kind: 'consent' });
  });

  test.each<[string, (browser: TestBrowser) => Promise<BrowserStep>]>([
    ['chooses a context', (browser) => browser.choose({ clientId: 'cli_1' }, 'forged')],
    ['decides on consent', (browser) => browser.decide(true, 'forged')],
    ['cancels', (browser) => browser.cancel('forged')],
    ['signs out', (browser) => browser.confirmLogout('forged')],
  ])('for a form with a forged token that %s', async (_, send) => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = looking(rig, await signedInBrowser(rig, person));
    await browser.authorize({ prompt: 'login' });
    expect(await send(browser)).toMatchObject({ page: 'sign_in' });
    await browser.logout();
    expect(await send(browser)).toMatchObject({ page: 'sign_out' });
  });

  test.each<[string, (browser: TestBrowser, csrfToken: string) => Promise<BrowserStep>]>([
    ['chooses a context', (browser, token) => browser.choose({ clientId: 'cli_1' }, token)],
    ['decides on consent', (browser, token) => browser.decide(true, token)],
  ])('for a form of a stranger that %s', async (_, send) => {
    const browser = looking(await browserRig(under));
    await browser.authorize();
    expect(await send(browser, await browser.csrfToken('sign_in'))).toMatchObject({ page: 'sign_in' });
  });

  test('where a stranger looks at a page of an application that was disabled meanwhile', async () => {
    const rig = await browserRig(under);
    const browser = looking(rig);
    await browser.authorize();
    await rig.operate((changes) => setApplicationEnabled(changes, rig.applicationId, false));
    const shown = await browser.show('sign_in');
    expect(shown).toMatchObject({ kind: 'step', step: { kind: 'redirect' } });
  });
});
