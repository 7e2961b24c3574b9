import { describe, expect, test } from '@jest/globals';
import {
  removeRedirectUri,
  setApplicationEnabled,
  updateApplication,
} from '../../../../src/domain/operator/applications.js';
import { disableUser } from '../../../../src/domain/platform/people/user-updates.js';
import type { LoginContext } from '../../../../src/domain/sign-on/interaction/login-contexts.js';
import { storedHash } from '../../../../src/identifiers/random-secrets.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { audited, browserRig, CALLBACK, hire, newClient, newPerson, signedInBefore } from '../browser-rig.js';
import { answerOf, codeOf, errorPageOf, signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');

/** At the consent page of an application that needs it. */
async function asked() {
  const rig = await browserRig(under);
  const clientId = await rig.newApplication({ name: 'Shiftwise', firstParty: false });
  const person = await newPerson(rig, [rig.here.clientId]);
  await signedInBefore(rig, person, rig.here.clientId);
  const browser = new TestBrowser(rig);
  await browser.authorize({ clientId, scope: 'openid email' });
  expect(await browser.signIn(person)).toMatchObject({ page: 'consent' });
  return { rig, clientId, person, browser };
}

describe('the person', () => {
  test('is told who asks and for what', async () => {
    const { person, browser } = await asked();
    expect(await browser.show('consent')).toMatchObject({
      kind: 'consent',
      accountEmail: person.email,
      scopes: ['openid', 'email'],
      form: { applicationName: 'Shiftwise', instanceName: 'Harborlight' },
    });
  });

  test('is shown what the application says of itself', async () => {
    const { rig, clientId, browser } = await asked();
    const links = {
      logoUri: 'https://shiftwise.example.com/logo.svg',
      policyUri: 'https://shiftwise.example.com/privacy#data',
      tosUri: 'https://shiftwise.example.com/terms?of=2026',
    };
    await rig.operate((changes) => updateApplication(changes, { applicationId: clientId, ...links }));
    expect(await browser.show('consent')).toMatchObject({ links });
    await rig.operate((changes) => updateApplication(changes, { applicationId: clientId, logoUri: '' }));
    expect(await browser.show('consent')).toMatchObject({ links: { ...links, logoUri: null } });
    const updateMask = ['policy_uri'];
    await rig.operate((changes) => updateApplication(changes, { applicationId: clientId, updateMask }));
    expect(await browser.show('consent')).toMatchObject({
      links: { logoUri: null, policyUri: null, tosUri: links.tosUri },
    });
  });

  test('with several contexts sees which one it is and changes it, here and for the session', async () => {
    const rig = await browserRig(under);
    const clientId = await rig.newApplication({ name: 'Shiftwise', firstParty: false });
    const person = await newPerson(rig, [rig.here.clientId]);
    await hire(rig, person, rig.here.clientId);
    const [asUser, asWorker] = (['USER', 'WORKER'] as const).map((userType) => ({
      userType,
      clientId: rig.here.clientId,
    })) as [LoginContext, LoginContext];
    const browser = new TestBrowser(rig);
    await browser.authorize({ clientId });
    expect(await browser.signIn(person)).toMatchObject({ page: 'choose_context' });
    expect(await browser.choose(asUser)).toMatchObject({ page: 'consent' });
    expect(await browser.show('consent')).toMatchObject({ context: asUser });
    expect(await browser.show('choose_context')).toMatchObject({
      contexts: expect.arrayContaining([expect.objectContaining(asUser), expect.objectContaining(asWorker)]),
    });
    expect(await browser.choose(asWorker)).toMatchObject({ page: 'consent' });
    expect(await browser.show('consent')).toMatchObject({ context: asWorker });
    codeOf(await browser.decide(true));
    await browser.authorize({ clientId, prompt: 'consent' });
    expect(await browser.show('consent')).toMatchObject({ context: asWorker });
  });

  test('with one context has none to change, and before a sign-in that is asked for cannot', async () => {
    const { rig, browser } = await asked();
    expect(await browser.show('consent')).toMatchObject({ kind: 'consent', context: undefined });
    expect(await browser.show('choose_context')).toMatchObject({ kind: 'step', step: { page: 'consent' } });
    const person = await newPerson(rig, [rig.here.clientId]);
    await hire(rig, person, rig.here.clientId);
    const other = await signedInBrowser(rig, person);
    await other.authorize({ prompt: 'login' });
    expect(await other.show('choose_context')).toMatchObject({ kind: 'step', step: { page: 'sign_in' } });
  });

  test('approves, and is not asked again for as much or less', async () => {
    const { rig, clientId, browser } = await asked();
    codeOf(await browser.decide(true));
    codeOf(await browser.authorize({ clientId, scope: 'email', prompt: 'none' }));
    const more = await browser.authorize({ clientId, scope: 'openid profile', prompt: 'none' });
    expect(answerOf(more)).toMatchObject({ error: 'consent_required' });
    expect(await browser.authorize({ clientId, scope: 'email', prompt: 'consent' })).toMatchObject({
      page: 'consent',
    });
    codeOf(await browser.decide(true));
    const whats = (await audited(rig)).map(({ what }) => what);
    expect(whats.filter((what) => what === 'consent.given succeeded')).toHaveLength(2);
  });

  test('denies, and is asked again the next time', async () => {
    const { rig, clientId, person, browser } = await asked();
    expect(answerOf(await browser.decide(false))).toEqual({
      error: 'access_denied',
      error_description: 'The person did not approve the request.',
      state: 'state-1',
      iss: rig.signOn.issuer,
    });
    expect(await browser.authorize({ clientId, scope: 'email' })).toMatchObject({ page: 'consent' });
    const denials = (await audited(rig)).filter(({ what }) => what === 'consent.denied succeeded');
    expect(denials.map(({ actor, subject }) => [actor, subject])).toEqual([[person.accountId, clientId]]);
    expect(denials[0]?.attributes).toMatchObject({
      instance_id: rig.here.instanceId,
      scopes: expect.any(String),
    });
    // There was no approval to withdraw.
    expect(denials[0]?.attributes.withdrawn).toBeUndefined();
  });
});

describe('a denial after an approval', () => {
  async function approved() {
    const rig = await browserRig(under);
    const clientId = await rig.newApplication({ name: 'Shiftwise', firstParty: false });
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await signedInBrowser(rig, person);
    await browser.authorize({ clientId, prompt: 'consent' });
    const code = codeOf(await browser.decide(true));
    const statusOf = async (one: string) =>
      (await rig.signOn.unitOfWork.rows.codes.find(storedHash(one)))?.status;
    return { rig, clientId, browser, code, statusOf };
  }

  test('withdraws it, with what the application got by it', async () => {
    const { rig, clientId, browser, code, statusOf } = await approved();
    const others = codeOf(await browser.authorize());
    await browser.authorize({ clientId, prompt: 'consent' });
    expect(await browser.show('consent')).toMatchObject({ allowedBefore: true });
    expect(answerOf(await browser.decide(false))).toMatchObject({ error: 'access_denied' });
    const silent = await browser.authorize({ clientId, prompt: 'none' });
    expect(answerOf(silent)).toMatchObject({ error: 'consent_required' });
    expect([await statusOf(code), await statusOf(others)]).toEqual(['EXPIRED', 'ISSUED']);
    const denial = (await audited(rig)).find(({ what }) => what === 'consent.denied succeeded');
    expect(denial?.attributes).toMatchObject({ withdrawn: 'true' });
  });

  test('to show more than before leaves what was approved', async () => {
    const { rig, clientId, browser } = await asked();
    const code = codeOf(await browser.decide(true));
    await browser.authorize({ clientId, scope: 'openid profile' });
    expect(await browser.show('consent')).toMatchObject({ allowedBefore: false });
    expect(answerOf(await browser.decide(false))).toMatchObject({ error: 'access_denied' });
    codeOf(await browser.authorize({ clientId, scope: 'email', prompt: 'none' }));
    expect((await rig.signOn.unitOfWork.rows.codes.find(storedHash(code)))?.status).toBe('ISSUED');
    const denial = (await audited(rig)).find(({ what }) => what === 'consent.denied succeeded');
    expect(denial?.attributes.withdrawn).toBeUndefined();
  });

  test('that the database has lost, such as after a restore, ends the tokens', async () => {
    const { rig, clientId, browser, code, statusOf } = await approved();
    await rig.database.write((writer) => writer.deleteFrom('consents').execute());
    await browser.authorize({ clientId });
    expect(answerOf(await browser.decide(false))).toMatchObject({ error: 'access_denied' });
    expect(await statusOf(code)).toBe('EXPIRED');
    const denial = (await audited(rig)).find(({ what }) => what === 'consent.denied succeeded');
    expect(denial?.attributes).toMatchObject({ withdrawn: 'true' });
  });

  test('of another person leaves it', async () => {
    const { rig, clientId, browser, code, statusOf } = await approved();
    const other = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
    await other.authorize({ clientId });
    await other.decide(false);
    codeOf(await browser.authorize({ clientId, prompt: 'none' }));
    expect(await statusOf(code)).toBe('ISSUED');
  });

  test('that was never asked for ends nothing: the operator vouches for the application', async () => {
    const rig = await browserRig(under);
    const browser = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
    const code = codeOf(await browser.authorize());
    await browser.authorize({ prompt: 'consent' });
    await browser.decide(false);
    codeOf(await browser.authorize({ prompt: 'none' }));
    const kept = await rig.signOn.unitOfWork.rows.codes.find(storedHash(code));
    expect(kept?.status).toBe('ISSUED');
  });
});

describe('a denial after an approval in another tab', () => {
  test('ends its own authorization', async () => {
    const { rig, clientId, browser } = await asked();
    const denying = browser.at;
    const csrfToken = await browser.csrfToken('consent');
    await browser.authorize({ clientId });
    codeOf(await browser.decide(true));
    browser.at = denying;
    expect(answerOf(await browser.decide(false, csrfToken))).toMatchObject({ error: 'access_denied' });
    const whats = (await audited(rig)).map(({ what }) => what);
    expect(whats).toContain('consent.denied succeeded');
  });

  test('changes nothing where the sign-in has to be repeated first', async () => {
    const { rig, person, clientId, browser } = await asked();
    await browser.authorize({ clientId, maxAge: '60' });
    const csrfToken = await browser.csrfToken('consent');
    rig.clock.advance(60_000);
    expect(await browser.decide(false, csrfToken)).toMatchObject({ page: 'sign_in' });
    expect(await browser.signIn(person)).toMatchObject({ page: 'consent' });
  });
});

describe('a changed context', () => {
  /** At the consent page as the user of B, after a code in this session as the user of A. */
  async function changedToB() {
    const rig = await browserRig(under);
    const application = await rig.newApplication({ name: 'Shiftwise', firstParty: false });
    const { clientId: a, instanceId } = rig.here;
    const b = await newClient(rig, instanceId, 'Saltmere');
    const c = await newClient(rig, instanceId, 'Fernbrook');
    const person = await newPerson(rig, [a, b, c]);
    await rig.database.write((writer) => writer.updateTable('users').set({ status: 'ACTIVE' }).execute());
    const as = (clientId: string) => ({ userType: 'USER' as const, clientId });
    const browser = new TestBrowser(rig);
    await browser.authorize({ clientId: application });
    await browser.signIn(person);
    await browser.choose(as(a));
    codeOf(await browser.decide(true));
    await browser.authorize({ clientId: application, prompt: 'consent' });
    expect(await browser.show('consent')).toMatchObject({ context: as(a) });
    expect(await browser.choose(as(b))).toMatchObject({ page: 'consent' });
    expect(await browser.show('consent')).toMatchObject({ context: as(b) });
    const disable = async (clientId: string) => {
      const users = await rig.run((changes) => changes.users.ofAccount(person.accountId));
      const userId = users.find((user) => user.clientId === clientId)?.id ?? '';
      await rig.run((changes) => disableUser(changes, { userId }));
    };
    return { browser, as, a, b, c, disable };
  }

  test('that is refused is asked for again with an error', async () => {
    const { browser, as, b, c, disable } = await changedToB();
    const csrfToken = await browser.csrfToken('choose_context');
    await disable(c);
    expect(await browser.choose(as(c), csrfToken)).toMatchObject({ page: 'choose_context' });
    expect(await browser.show('choose_context')).toMatchObject({
      refusals: [{ input: 'context', message: 'You no longer have this role.' }],
    });
    expect(await browser.choose(as(b))).toMatchObject({ page: 'consent' });
    expect(await browser.show('consent')).toMatchObject({ context: as(b) });
    codeOf(await browser.decide(true));
  });

  test.each(['others are', 'one other is'])(
    'that is gone at the approval is asked for again, where %s left',
    async (left) => {
      const { browser, as, a, b, c, disable } = await changedToB();
      const csrfToken = await browser.csrfToken('consent');
      await disable(b);
      if (left === 'one other is') {
        await disable(c);
      }
      expect(await browser.decide(true, csrfToken)).toMatchObject({ page: 'choose_context' });
      expect(await browser.choose(as(a))).toMatchObject({ page: 'consent' });
      codeOf(await browser.decide(true));
    },
  );
});

test('an approval of one person does not count for another person in the same browser', async () => {
  const { rig, clientId, browser } = await asked();
  codeOf(await browser.decide(true));
  await browser.authorize({ clientId, scope: 'openid email', prompt: 'login' });
  const other = await newPerson(rig, [rig.here.clientId]);
  expect(await browser.signIn(other)).toMatchObject({ page: 'consent' });
});

describe('while the person reads', () => {
  test('the application is disabled', async () => {
    const { rig, clientId, browser } = await asked();
    const csrfToken = await browser.csrfToken('consent');
    await rig.operate((changes) => setApplicationEnabled(changes, clientId, false));
    await browser.decide(true, csrfToken);
    const shown = await browser.show('sign_in');
    expect(shown.kind === 'step' && answerOf(shown.step)).toMatchObject({ error: 'unauthorized_client' });
  });

  test('a scope is taken from it', async () => {
    const { rig, clientId, browser } = await asked();
    await rig.operate((changes) =>
      updateApplication(changes, { applicationId: clientId, allowedScopes: ['openid'] }),
    );
    const shown = await browser.show('consent');
    expect(shown.kind === 'step' && answerOf(shown.step)).toMatchObject({ error: 'invalid_scope' });
  });

  test('its redirect URI is removed, so there is no redirect', async () => {
    const { rig, clientId, browser } = await asked();
    const csrfToken = await browser.csrfToken('consent');
    await rig.operate((changes) => removeRedirectUri(changes, { applicationId: clientId, uri: CALLBACK }));
    await browser.decide(true, csrfToken);
    const shown = await browser.show('consent');
    expect(shown.kind === 'step' && errorPageOf(shown.step).kind).toBe('request');
  });
});
