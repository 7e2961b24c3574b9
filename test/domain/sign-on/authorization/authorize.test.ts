import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { endAccess } from '../../../../src/domain/credentials/access.js';
import { disableUser } from '../../../../src/domain/platform/people/user-updates.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { storedHash } from '../../../../src/identifiers/random-secrets.js';
import { databaseUnderTest } from '../../../support/databases.js';
import {
  type BrowserRig,
  browserRig,
  CALLBACK,
  HOUR_MS,
  newPerson,
  OTHER_CALLBACK,
  signedInBefore,
} from '../browser-rig.js';
import { answerOf, codeOf, signedInBrowser, TestBrowser } from '../test-browser.js';
import { ISSUER } from '../token-keys.js';

const under = databaseUnderTest('SQLite');

async function countOf({ database }: BrowserRig, table: 'sessions' | 'finished_interactions') {
  return (await database.reader.selectFrom(table).selectAll().execute()).length;
}

describe('a browser without a session', () => {
  test('gets a cookie and the sign-in page', async () => {
    const rig = await browserRig(under);
    const browser = new TestBrowser(rig);
    const step = await browser.authorize();
    expect(step).toMatchObject({ kind: 'page', page: 'sign_in', cookie: { kind: 'set' } });
    expect(browser.cookie).toMatch(/^[\w-]{43}$/);
    expect(browser.at).toMatch(/^[\w-]{100,1000}$/);
  });

  test('keeps the cookie that it has', async () => {
    const rig = await browserRig(under);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    expect(await browser.authorize()).not.toHaveProperty('cookie');
    expect(await countOf(rig, 'sessions')).toBe(0);
  });

  test('leaves nothing behind when it may be shown no page', async () => {
    const rig = await browserRig(under);
    const step = await new TestBrowser(rig).authorize({ prompt: 'none' });
    expect(answerOf(step)).toEqual({
      error: 'login_required',
      error_description: expect.stringMatching(/^[ -!#-[\]-~]+$/),
      state: 'state-1',
      iss: ISSUER,
    });
    expect(step).not.toHaveProperty('cookie');
    expect([await countOf(rig, 'sessions'), await countOf(rig, 'finished_interactions')]).toEqual([0, 0]);
  });
});

describe('a browser with a session', () => {
  test('gets its code at once, which stands for all that was asked', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await signedInBrowser(rig, person);
    const signedInAt = rig.clock.now();
    rig.clock.advance(5_000);
    const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const step = await browser.authorize({
      codeChallenge,
      codeChallengeMethod: 'S256',
      nonce: 'n-1',
      maxAge: '60',
      scope: 'email openid',
    });
    expect(step.kind === 'redirect' && step.location.startsWith(`${CALLBACK}?code=`)).toBe(true);
    expect(answerOf(step)).toMatchObject({ state: 'state-1', iss: ISSUER });
    expect(await rig.signOn.unitOfWork.rows.codes.find(storedHash(codeOf(step)))).toMatchObject({
      applicationId: rig.applicationId,
      accountId: person.accountId,
      instanceId: rig.here.instanceId,
      redirectUri: CALLBACK,
      scopes: ['openid', 'email'],
      codeChallenge,
      nonce: 'n-1',
      context: { userType: 'USER', clientId: rig.here.clientId },
      authenticatedAt: signedInAt,
      status: 'ISSUED',
      expiresAt: rig.clock.now() + 600_000,
    });
  });

  test('gets it without state where there was none, and keeps the query that the redirect URI has', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId, rig.there.clientId]);
    await signedInBefore(rig, person, rig.there.clientId);
    const browser = await signedInBrowser(rig, person);
    const step = await browser.authorize({ redirectUri: OTHER_CALLBACK, state: '' });
    expect(step.kind === 'redirect' && step.location.startsWith(`${OTHER_CALLBACK}&code=`)).toBe(true);
    expect(Object.keys(answerOf(step)).sort()).toEqual(['code', 'instance', 'iss']);
  });

  test.each([
    ['prompt=login', { prompt: 'login' }],
    ['prompt=select_account', { prompt: 'select_account' }],
    ['max_age=0', { maxAge: '0' }],
    ['a max_age that is over', { maxAge: '10' }],
  ])('signs in again for %s, and then continues', async (_, parameters) => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await signedInBrowser(rig, person);
    rig.clock.advance(11_000);
    expect(await browser.authorize(parameters)).toMatchObject({ page: 'sign_in' });
    rig.clock.advance(1_000);
    expect(codeOf(await browser.signIn(person))).toBeDefined();
  });

  test.each([
    ['the idle limit', 12 * HOUR_MS, 0],
    ['the absolute limit, however busy it was', 10 * HOUR_MS, 34],
  ])('is signed in no longer beyond %s', async (_, stepMs, visits) => {
    const rig = await browserRig(under);
    const browser = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
    for (let visit = 0; visit < visits - 1; visit += 1) {
      rig.clock.advance(stepMs);
      expect(codeOf(await browser.authorize())).toBeDefined();
    }
    rig.clock.advance(stepMs);
    expect(await browser.authorize()).toMatchObject({ page: 'sign_in', cookie: { kind: 'set' } });
  });

  test('gets no code when the session ends while others are waited for', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await signedInBrowser(rig, person);
    const { run } = rig.signOn.unitOfWork;
    rig.signOn.unitOfWork.run = (work) =>
      run((changes) => {
        const lock = async (...ids: string[]) => {
          await changes.lock(...ids);
          await endAccess(changes, person.accountId);
        };
        return work({ ...changes, lock });
      });
    expect(answerOf(await browser.authorize({ prompt: 'none' }))).toMatchObject({ error: 'login_required' });
    expect(await browser.authorize()).toMatchObject({ page: 'sign_in' });
  });

  test('must sign in again if the instance no longer admits them', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await signedInBrowser(rig, person);
    const [user] = await rig.run((changes) => changes.users.ofAccount(person.accountId));
    await rig.run((changes) => disableUser(changes, { userId: user?.id ?? '' }));
    expect(await browser.authorize()).toMatchObject({ page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject({
      refusals: [{ input: '', message: expect.stringMatching(/no access .* on Harborlight/) }],
    });
    expect(answerOf(await browser.authorize({ prompt: 'none' }))).toMatchObject({ error: 'access_denied' });
  });
});

describe('a failure of ours', () => {
  test.each([[{}], [{ prompt: 'none' }]])(
    'is a server_error for the application (%j)',
    async (parameters) => {
      const rig = await browserRig(under);
      const browser = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
      const fault = new Error('canary');
      rig.signOn.unitOfWork.run = () => Promise.reject(fault);
      const answer = answerOf(await browser.authorize(parameters));
      expect(answer).toMatchObject({ error: 'server_error', state: 'state-1', iss: ISSUER });
      expect(answer.error_description).not.toContain('canary');
      expect(rig.faults).toEqual([{ requestId: 'request-1', fault }]);
    },
  );

  test('that passes is told to the person, who can try again', async () => {
    const rig = await browserRig(under);
    const browser = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
    const busy = new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.');
    rig.signOn.unitOfWork.run = () => Promise.reject(busy);
    await expect(browser.authorize()).rejects.toBe(busy);
    expect(rig.faults).toEqual([]);
  });

  test('that passes is told to the application where no person reads a page', async () => {
    const rig = await browserRig(under);
    const browser = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
    const fault = new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.');
    rig.signOn.unitOfWork.run = () => Promise.reject(fault);
    const answer = answerOf(await browser.authorize({ prompt: 'none' }));
    expect(answer).toMatchObject({ error: 'temporarily_unavailable', state: 'state-1', iss: ISSUER });
    expect(rig.faults).toEqual([{ requestId: 'request-1', fault }]);
  });

  test.each([
    [new Error('canary'), {}, 'server_error'],
    [new Error('canary'), { prompt: 'none' }, 'server_error'],
    [new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.'), { prompt: 'none' }, 'temporarily_unavailable'],
  ])(
    'while the hint of the application is read is told to it too (%s, %j)',
    async (fault, parameters, error) => {
      const rig = await browserRig(under);
      rig.signOn.keys.read = () => Promise.reject(fault);
      const browser = new TestBrowser(rig);
      const answer = answerOf(await browser.authorize({ ...parameters, idTokenHint: 'a.b.c' }));
      expect(answer).toMatchObject({ error, state: 'state-1', iss: ISSUER });
      expect(rig.faults).toEqual([{ requestId: 'request-1', fault }]);
    },
  );

  test('before the redirect URI is proven is no redirect', async () => {
    const rig = await browserRig(under);
    const fault = new Error('canary');
    rig.signOn.unitOfWork.rows.applications.find = () => Promise.reject(fault);
    await expect(new TestBrowser(rig).authorize()).rejects.toBe(fault);
  });
});

describe('a long request', () => {
  /** Each third character is longer in an address, so that nothing repeats for the compression. */
  const unlikeItsQuery = (length: number) =>
    [...randomBytes(length).toString('base64url').slice(0, length)]
      .map((letter, index) =>
        index % 3 === 0 ? String.fromCharCode(1 + (letter.charCodeAt(0) % 31)) : letter,
      )
      .join('');

  test('that has no room in the address of a page is refused, and gets a code where none is needed', async () => {
    const rig = await browserRig(under);
    const long = {
      ...{ state: unlikeItsQuery(3_200), nonce: unlikeItsQuery(1_000) },
      loginHint: unlikeItsQuery(320),
    };
    const refused = { error: 'invalid_request', state: long.state };
    expect(answerOf(await new TestBrowser(rig).authorize(long))).toMatchObject(refused);
    const browser = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
    expect(answerOf(await browser.authorize({ ...long, prompt: 'login' }))).toMatchObject(refused);
    codeOf(await browser.authorize(long));
  });

  test('of letters and digits goes on to its page, also after an address of the greatest length was refused', async () => {
    const rig = await browserRig(under);
    const browser = new TestBrowser(rig);
    const letters = (length: number) => randomBytes(length).toString('base64url').slice(0, length);
    const long = { state: letters(4_096), nonce: letters(1_024), loginHint: letters(320) };
    expect(await browser.authorize(long)).toMatchObject({ page: 'sign_in' });
    const before = browser.at.length;
    const email = `${[...randomBytes(319)].map((byte) => String.fromCharCode(0x4e00 + 64 * byte)).join('')}@`;
    expect(await browser.signIn({ email })).toMatchObject({ page: 'sign_in' });
    expect(browser.at.length - before).toBeLessThan(2_000);
  });
});

describe('the person whom the application expects', () => {
  async function twoPeople() {
    const rig = await browserRig(under);
    const expected = await newPerson(rig, [rig.here.clientId]);
    const other = await newPerson(rig, [rig.here.clientId]);
    const idTokenHint = await rig.keys.sign('RS256', 'JWT', {
      iss: ISSUER,
      sub: expected.accountId,
      aud: rig.applicationId,
      iat: 1_600_000_000,
      exp: 1_600_003_600,
    });
    const claims = JSON.stringify({ id_token: { sub: { value: expected.accountId } } });
    return { rig, expected, other, hints: { idTokenHint, claims } };
  }

  test.each(['idTokenHint', 'claims'] as const)('is signed in already, as %s says', async (name) => {
    const { rig, expected, hints } = await twoPeople();
    const browser = await signedInBrowser(rig, expected);
    expect(codeOf(await browser.authorize({ [name]: hints[name], prompt: 'none' }))).toBeDefined();
  });

  test.each(['idTokenHint', 'claims'] as const)(
    'differs from the signed-in person, as %s says',
    async (name) => {
      const { rig, expected, other, hints } = await twoPeople();
      const browser = await signedInBrowser(rig, other);
      const silent = await browser.authorize({ [name]: hints[name], prompt: 'none' });
      expect(answerOf(silent)).toMatchObject({ error: 'login_required' });
      expect(await browser.authorize({ [name]: hints[name] })).toMatchObject({ page: 'sign_in' });
      expect(codeOf(await browser.signIn(expected))).toBeDefined();
    },
  );

  test('is not who signs in then', async () => {
    const { rig, other, hints } = await twoPeople();
    const browser = new TestBrowser(rig);
    await browser.authorize({ idTokenHint: hints.idTokenHint });
    expect(answerOf(await browser.signIn(other))).toMatchObject({ error: 'login_required' });
  });
});
