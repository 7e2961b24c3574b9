import { describe, expect, test } from '@jest/globals';
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
});
