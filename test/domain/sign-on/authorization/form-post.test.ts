import { describe, expect, test } from '@jest/globals';
import type { Interaction } from '../../../../src/domain/sign-on/interaction/interactions.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { type BrowserRig, browserRig, CALLBACK, newPerson } from '../browser-rig.js';
import { codeOf, postedAnswerOf, signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');
const ISS = 'https://sign-on.example.com';
const CODE = { code: expect.stringMatching(/^[\w-]{43}$/), state: 'state-1', iss: ISS };
const POSTED = { responseMode: 'form_post' };

async function person(rig: BrowserRig) {
  return newPerson(rig, [rig.here.clientId]);
}

describe('the answer in a form', () => {
  test('is the code after a sign-in, for the redirect URI of the request', async () => {
    const rig = await browserRig(under);
    const browser = new TestBrowser(rig);
    await browser.authorize(POSTED);
    const step = await browser.signIn(await person(rig));
    expect(step).toMatchObject({
      kind: 'form_post',
      action: CALLBACK,
      applicationName: 'Brightledger Portal',
      formActionSource: 'https://portal.example.com',
    });
    expect(postedAnswerOf(step)).toEqual(CODE);
    expect(JSON.stringify(step)).not.toContain('code=');
  });

  test('is the code without a page for a signed-in person, and has no state where none was sent', async () => {
    const rig = await browserRig(under);
    const browser = await signedInBrowser(rig, await person(rig));
    const step = await browser.authorize({ ...POSTED, prompt: 'none', state: undefined });
    expect(postedAnswerOf(step)).toEqual({ code: CODE.code, iss: ISS });
  });

  test('is also an error', async () => {
    const rig = await browserRig(under);
    const step = await new TestBrowser(rig).authorize({ ...POSTED, prompt: 'none' });
    const error = { error: 'login_required', error_description: 'The person has to sign in.' };
    expect(postedAnswerOf(step)).toEqual({ ...error, state: 'state-1', iss: ISS });
  });

  test('is also a denial and an approval', async () => {
    const rig = await browserRig(under);
    const clientId = await rig.newApplication({ firstParty: false });
    const browser = await signedInBrowser(rig, await person(rig));
    await browser.authorize({ ...POSTED, clientId });
    expect(postedAnswerOf(await browser.decide(false))).toMatchObject({ error: 'access_denied' });
    await browser.authorize({ ...POSTED, clientId });
    expect(postedAnswerOf(await browser.decide(true))).toEqual(CODE);
  });
});

test('a page from before the upgrade, which knows no mode, leads on by address', async () => {
  const rig = await browserRig(under);
  const browser = new TestBrowser(rig);
  await browser.authorize();
  const opened = rig.signOn.interactionSeals.open(browser.at) as Interaction<{ responseMode?: string }> &
    Interaction;
  const { responseMode, ...request } = opened.request as Interaction['request'] & { responseMode?: string };
  expect(responseMode).toBe('query');
  browser.at = rig.signOn.interactionSeals.seal({ ...opened, request: request as Interaction['request'] });
  codeOf(await browser.signIn(await person(rig)));
});
