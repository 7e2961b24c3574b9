import { describe, expect, test } from '@jest/globals';
import { removeRedirectUri, setApplicationEnabled } from '../../../../src/domain/operator/applications.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { audited, browserRig, CALLBACK, hire, newPerson, OTHER_CALLBACK } from '../browser-rig.js';
import {
  answerOf,
  codeOf,
  errorPageOf,
  postedAnswerOf,
  signedInBrowser,
  TestBrowser,
} from '../test-browser.js';

const under = databaseUnderTest('SQLite');

const CANCELLED = {
  error: 'access_denied',
  error_description: 'The person cancelled the sign-in.',
  state: 'state-1',
  iss: 'https://sign-on.example.com',
};

const finished = async ({ database }: Awaited<ReturnType<typeof browserRig>>) =>
  database.reader.selectFrom('finished_interactions').selectAll().execute();

/** At the sign-in page, unknown. */
async function asked() {
  const rig = await browserRig(under);
  const browser = new TestBrowser(rig);
  await browser.authorize();
  return { rig, browser };
}

/** Signed in, at an instance without access. */
async function withoutAccess(parameters = {}) {
  const rig = await browserRig(under);
  const person = await newPerson(rig, [rig.here.clientId]);
  const browser = await signedInBrowser(rig, person);
  await browser.authorize({ redirectUri: OTHER_CALLBACK, ...parameters });
  return { rig, person, browser };
}

describe('a person who has not signed in', () => {
  test('is brought back, and the application learns of it', async () => {
    const { browser } = await asked();
    expect(answerOf(await browser.cancel())).toEqual(CANCELLED);
  });

  test('leaves nothing behind, and may change their mind', async () => {
    const { rig, browser } = await asked();
    const person = await newPerson(rig, [rig.here.clientId]);
    await browser.cancel();
    expect([await finished(rig), await audited(rig)]).toEqual([[], []]);
    codeOf(await browser.signIn(person));
  });

  test('is brought back with a form where the application wants one', async () => {
    const { browser } = await asked();
    await browser.authorize({ responseMode: 'form_post' });
    expect(postedAnswerOf(await browser.cancel())).toEqual(CANCELLED);
  });

  test('is not brought to an address that was removed meanwhile', async () => {
    const { rig, browser } = await asked();
    const csrfToken = await browser.csrfToken('sign_in');
    await rig.operate((changes) =>
      removeRedirectUri(changes, { applicationId: rig.applicationId, uri: CALLBACK }),
    );
    expect(errorPageOf(await browser.cancel(csrfToken)).kind).toBe('request');
  });

  test('of an application that was disabled meanwhile brings that to it', async () => {
    const { rig, browser } = await asked();
    const csrfToken = await browser.csrfToken('sign_in');
    await rig.operate((changes) => setApplicationEnabled(changes, rig.applicationId, false));
    expect(answerOf(await browser.cancel(csrfToken))).toMatchObject({ error: 'unauthorized_client' });
  });
});

describe('a person without access on the instance', () => {
  test('is told so, and brings that to the application', async () => {
    const { person, browser } = await withoutAccess();
    expect(await browser.show('sign_in')).toMatchObject({
      withoutAccess: true,
      refusals: [{ input: '', message: expect.stringContaining(`${person.email} has no access to`) }],
    });
    expect(answerOf(await browser.cancel())).toMatchObject({
      error: 'access_denied',
      error_description: 'The person has no access on this instance.',
      state: 'state-1',
    });
  });

  test('does so once, which is recorded', async () => {
    const { rig, person, browser } = await withoutAccess();
    const csrfToken = await browser.csrfToken('sign_in');
    await browser.cancel(csrfToken);
    expect(errorPageOf(await browser.cancel(csrfToken)).message).toContain('answered already');
    expect(await finished(rig)).toHaveLength(2);
    const records = (await audited(rig)).filter(({ what }) => what === 'sign_in.cancelled succeeded');
    expect(records.map(({ actor, subject, attributes }) => [actor, subject, attributes.reason])).toEqual([
      [person.accountId, rig.applicationId, 'no_access'],
    ]);
  });

  test('who is asked for the password again only cancels: the application learns no more', async () => {
    const { rig, browser } = await withoutAccess({ prompt: 'login' });
    expect(answerOf(await browser.cancel())).toMatchObject(CANCELLED);
    const [{ attributes } = {}] = (await audited(rig)).filter(({ what }) => /^sign_in\.cancelled/.test(what));
    expect(attributes).toMatchObject({ reason: 'cancelled' });
  });
});

describe('a person who has to choose a context', () => {
  test('cancels, once, and the application learns of it', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    await hire(rig, person, rig.here.clientId);
    const browser = await signedInBrowser(rig, person);
    const csrfToken = await browser.csrfToken('choose_context');
    expect(answerOf(await browser.cancel(csrfToken))).toEqual(CANCELLED);
    expect(errorPageOf(await browser.cancel(csrfToken)).message).toContain('answered already');
    const records = (await audited(rig)).filter(({ what }) => what === 'sign_in.cancelled succeeded');
    expect(records.map(({ actor, attributes }) => [actor, attributes.reason])).toEqual([
      [person.accountId, 'cancelled'],
    ]);
  });
});

describe('nothing is cancelled', () => {
  test('with the token of another browser', async () => {
    const { rig, browser } = await asked();
    const other = new TestBrowser(rig);
    await other.authorize();
    expect(await browser.cancel(await other.csrfToken('sign_in'))).toMatchObject({ page: 'sign_in' });
  });

  test('with a token from before the sign-in', async () => {
    const { rig, browser } = await asked();
    const csrfToken = await browser.csrfToken('sign_in');
    const clientId = await rig.newApplication({ firstParty: false });
    await browser.authorize({ clientId });
    expect(await browser.signIn(await newPerson(rig, [rig.here.clientId]))).toMatchObject({
      page: 'consent',
    });
    const consenting = browser.at;
    expect(await browser.cancel(csrfToken)).toMatchObject({ page: 'sign_in' });
    browser.at = consenting;
    codeOf(await browser.decide(true));
  });
});
