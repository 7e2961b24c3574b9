import { expect, test } from '@jest/globals';
import { RateLimiter } from '../../../../src/domain/access/rate-limiter.js';
import { updateApplication } from '../../../../src/domain/operator/applications.js';
import { SESSIONS_PER_ACCOUNT } from '../../../../src/domain/sign-on/sessions/browser-sessions.js';
import { RATES, type TokenIssuer } from '../../../../src/domain/sign-on/sign-on.js';
import { readUserinfo } from '../../../../src/domain/sign-on/tokens/userinfo.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { browserRig, CALLBACK, newPerson } from '../browser-rig.js';
import { answerOf, signedInBrowser, type TestBrowser } from '../test-browser.js';
import { ISSUER, verifiedAccessToken } from '../token-keys.js';
import { exchangeCode, presented, rotateRefreshToken } from '../token-rig.js';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = {
  codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  codeChallengeMethod: 'S256',
};

describeEachDatabase('a sign-out', (under) => {
  /** A signed-in person, and an application with or without the setting. */
  async function rigWith(signOutEndsTokens: boolean) {
    const rig = await browserRig(under);
    const clientId = await rig.newApplication({ type: 'public', signOutEndsTokens });
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await signedInBrowser(rig, person);
    const issuer: TokenIssuer = {
      ...rig.signOn,
      keys: rig.keys,
      wrongSecrets: new RateLimiter(RATES.wrongSecrets, rig.clock.now),
      onBackgroundError: () => undefined,
    };
    const client = presented(clientId);
    const codeIn = async (one: TestBrowser) =>
      answerOf(await one.authorize({ clientId, ...CHALLENGE })).code as string;
    const exchange = (code: string) =>
      exchangeCode(issuer, client, {
        codeHash: hashSecret(code),
        redirectUri: CALLBACK,
        codeVerifier: VERIFIER,
      });
    const signOut = async (one: TestBrowser) => {
      const iat = Math.floor(rig.clock.now() / 1_000);
      const hint = { iss: ISSUER, sub: person.accountId, aud: rig.applicationId, iat };
      await one.logout({ idTokenHint: await rig.keys.sign('RS256', 'JWT', hint) });
    };
    const refresh = (refreshToken = '') => rotateRefreshToken(issuer, client, { refreshToken });
    const userinfo = async (accessToken: string) =>
      readUserinfo(issuer, await verifiedAccessToken(rig.keys, rig.clock.now, accessToken));
    return { ...rig, clientId, person, browser, codeIn, exchange, signOut, refresh, userinfo };
  }

  test('ends the tokens that the application got in that session, where the operator set it so', async () => {
    const { browser, codeIn, exchange, signOut, refresh, userinfo } = await rigWith(true);
    const tokens = await exchange(await codeIn(browser));
    const waiting = await codeIn(browser);
    await signOut(browser);
    expect(await refusalOf(refresh(tokens.refreshToken))).toMatchObject({ code: 'INVALID_GRANT' });
    await expect(userinfo(tokens.accessToken)).rejects.toThrow();
    expect(await refusalOf(exchange(waiting))).toMatchObject({ code: 'INVALID_GRANT' });
  });

  test('confirmed on the page does the same', async () => {
    const { browser, codeIn, exchange, refresh } = await rigWith(true);
    const tokens = await exchange(await codeIn(browser));
    await browser.logout();
    await browser.confirmLogout();
    expect(await refusalOf(refresh(tokens.refreshToken))).toMatchObject({ code: 'INVALID_GRANT' });
  });

  test('by the sign-in of another person in the browser does the same', async () => {
    const { browser, codeIn, exchange, refresh, clientId, ...rig } = await rigWith(true);
    const tokens = await exchange(await codeIn(browser));
    const waiting = await codeIn(browser);
    await browser.authorize({ clientId, prompt: 'login', ...CHALLENGE });
    await browser.signIn(await newPerson(rig as never, [rig.here.clientId]));
    expect(await refusalOf(refresh(tokens.refreshToken))).toMatchObject({ code: 'INVALID_GRANT' });
    expect(await refusalOf(exchange(waiting))).toMatchObject({ code: 'INVALID_GRANT' });
  });

  test('of the browser that was seen first, because the person has too many, does the same', async () => {
    const { browser, person, codeIn, exchange, refresh, ...rig } = await rigWith(true);
    const tokens = await exchange(await codeIn(browser));
    for (let count = 0; count < SESSIONS_PER_ACCOUNT; count += 1) {
      rig.clock.advance(1_000);
      await signedInBrowser(rig as never, person);
    }
    expect(await refusalOf(refresh(tokens.refreshToken))).toMatchObject({ code: 'INVALID_GRANT' });
  });

  test('leaves the tokens as they are, unless that is set', async () => {
    const { browser, codeIn, exchange, signOut, refresh, userinfo, person } = await rigWith(false);
    const tokens = await exchange(await codeIn(browser));
    const waiting = await codeIn(browser);
    await signOut(browser);
    expect(await userinfo(tokens.accessToken)).toMatchObject({ sub: person.accountId });
    expect(await refresh(tokens.refreshToken)).toHaveProperty('accessToken');
    expect(await exchange(waiting)).toHaveProperty('accessToken');
  });

  test('leaves those of another browser of the person', async () => {
    const { browser, person, codeIn, exchange, signOut, refresh, ...rig } = await rigWith(true);
    const other = await signedInBrowser(rig as never, person);
    const tokens = await exchange(await codeIn(other));
    await signOut(browser);
    expect(await refresh(tokens.refreshToken)).toHaveProperty('accessToken');
  });

  test('does as the application is set at that moment', async () => {
    const { browser, clientId, operate, codeIn, exchange, signOut, refresh } = await rigWith(false);
    const tokens = await exchange(await codeIn(browser));
    await operate((changes) =>
      updateApplication(changes, { applicationId: clientId, signOutEndsTokens: true }),
    );
    await signOut(browser);
    expect(await refusalOf(refresh(tokens.refreshToken))).toMatchObject({ code: 'INVALID_GRANT' });
  });

  test('among sign-ins in other tabs leaves no code or token in force', async () => {
    const { browser, codeIn, exchange, signOut } = await rigWith(true);
    const codes = Array.from({ length: 10 }, () => codeIn(browser).catch(() => ''));
    codes.splice(
      5,
      0,
      signOut(browser).then(() => ''),
    );
    const given = (await Promise.all(codes)).filter((code) => code);
    for (const code of given) {
      expect(await refusalOf(exchange(code))).toMatchObject({ code: 'INVALID_GRANT' });
    }
  });
});
