import { describe, expect, test } from '@jest/globals';
import {
  type AuthorizationParameters,
  type Browser,
  type BrowserStep,
  ErrorPageKind,
  InteractionPage,
  PasswordProblem,
  UserType,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { SignOnServiceService as methods } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { makeLink } from '../../../../src/domain/credentials/links.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { browserHandlers } from '../../../../src/rpc/domain-server/sign-on/browser.js';
import { linkHandlers } from '../../../../src/rpc/domain-server/sign-on/links.js';
import { serve } from '../../../../src/rpc/handlers.js';
import {
  AFTER_LOGOUT,
  browserRig,
  CALLBACK,
  hire,
  newPerson,
  PASSWORD,
} from '../../../domain/sign-on/browser-rig.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf, rpcRigs, TOKENS } from '../../rig.js';

const CALL = { requestId: 'request-of-the-test', deadlineMs: 20_000 };

describe('a browser over gRPC', () => {
  const under = databaseUnderTest('SQLite');
  const rigs = rpcRigs();

  async function serving() {
    const rig = await browserRig(under);
    const handlers = { ...browserHandlers(rig.signOn), ...linkHandlers(rig.signOn) };
    const rpc = await rigs.start([serve(methods, handlers)]);
    const clientId = await rig.newApplication({ firstParty: false });
    const person = await newPerson(rig, [rig.here.clientId]);
    return { ...rig, person, clientId, calls: rpc.channel(TOKENS.edge).clientOf(methods) };
  }

  function browserWith(cookie?: string): Browser {
    const sessionHash = cookie === undefined ? undefined : Buffer.from(hashSecret(cookie));
    return { sessionHash, remoteAddress: '192.0.2.7', userAgent: 'Test browser' };
  }

  function asked(clientId: string): AuthorizationParameters {
    const parameters = { responseType: 'code', scope: 'openid', state: 's', redirectUri: CALLBACK };
    return { ...parameters, clientId, repeatedNames: [] };
  }

  function cookieOf(step: BrowserStep | undefined): string {
    const change = step?.sessionCookie?.change;
    return change?.$case === 'setValue' ? change.value : '';
  }

  function pageOf(step: BrowserStep | undefined) {
    const { result } = step ?? {};
    if (result?.$case !== 'nextPage') {
      throw new Error(`It leads to no page: ${JSON.stringify(step)}`);
    }
    return result.value;
  }

  function locationOf(step: BrowserStep | undefined): string {
    const { result } = step ?? {};
    return result?.$case === 'redirect' ? result.value.location : '';
  }

  test('signs in, chooses, approves and signs out, page by page', async () => {
    const { calls, person, clientId, here, ...rig } = await serving();
    await hire(rig, person, here.clientId);
    const begun = await calls.authorize({ browser: browserWith(), parameters: asked(clientId) }, CALL);
    let browser = browserWith(cookieOf(begun.step));
    let { interaction } = pageOf(begun.step);
    expect(pageOf(begun.step).page).toBe(InteractionPage.SIGN_IN);
    const shown = async (at: InteractionPage) =>
      (await calls.showInteraction({ browser, page: at, interaction }, CALL)).result;

    const signInPage = await shown(InteractionPage.SIGN_IN);
    expect(signInPage).toEqual({
      $case: 'signInPage',
      value: {
        interaction: {
          csrfToken: expect.any(String),
          applicationName: 'Brightledger Portal',
          instanceName: 'Harborlight',
          formActionSource: 'https://portal.example.com',
        },
        email: '',
        refusals: [],
        withoutAccess: false,
      },
    });
    const csrfOf = (at: typeof signInPage) =>
      at && 'interaction' in at.value ? (at.value.interaction?.csrfToken ?? '') : '';
    const { email } = person;
    const form = { browser, interaction, csrfToken: csrfOf(signInPage), email, password: PASSWORD };
    const signedIn = await calls.signIn(form, CALL);
    expect(pageOf(signedIn.step).page).toBe(InteractionPage.CHOOSE_CONTEXT);
    browser = browserWith(cookieOf(signedIn.step));
    ({ interaction } = pageOf(signedIn.step));

    const unused = { clientName: 'Tallowfern', lastUsed: false };
    const contextPage = await shown(InteractionPage.CHOOSE_CONTEXT);
    expect(contextPage).toMatchObject({
      $case: 'contextPage',
      value: {
        accountEmail: email,
        contexts: [
          { userType: UserType.USER, clientId: here.clientId, ...unused, invited: true },
          { userType: UserType.WORKER, clientId: here.clientId, ...unused, invited: false },
        ],
      },
    });
    const choice = { userType: UserType.WORKER, clientId: here.clientId };
    const chosen = await calls.chooseContext(
      { browser, interaction, csrfToken: csrfOf(contextPage), ...choice },
      CALL,
    );
    expect(pageOf(chosen.step).page).toBe(InteractionPage.CONSENT);
    ({ interaction } = pageOf(chosen.step));

    const consentPage = await shown(InteractionPage.CONSENT);
    expect(consentPage).toMatchObject({ $case: 'consentPage', value: { scopes: ['openid'] } });
    const decision = { browser, interaction, csrfToken: csrfOf(consentPage), approved: true };
    const { step } = await calls.decideConsent(decision, CALL);
    expect(locationOf(step)).toMatch(
      /^https:\/\/portal\.example\.com\/callback\?code=[\w-]{43}&state=s&iss=/,
    );

    const parameters = { clientId, postLogoutRedirectUri: AFTER_LOGOUT, repeatedNames: [] };
    const leaving = pageOf((await calls.logout({ browser, ...parameters }, CALL)).step);
    expect(leaving.page).toBe(InteractionPage.SIGN_OUT);
    const { result } = await calls.showInteraction({ browser, ...leaving }, CALL);
    expect(result).toMatchObject({ $case: 'signOutPage', value: { accountEmail: email } });
    const csrfToken = result?.$case === 'signOutPage' ? result.value.csrfToken : '';
    const left = await calls.confirmLogout({ browser, csrfToken, interaction: leaving.interaction }, CALL);
    expect(left.step).toEqual({
      result: { $case: 'redirect', value: { location: AFTER_LOGOUT } },
      sessionCookie: { change: { $case: 'clear', value: true }, expiresAt: undefined },
    });
  });

  test('is told on a page what the application has wrong, and asked to wait after too many guesses', async () => {
    const { calls, clientId } = await serving();
    const parameters = { ...asked(clientId), redirectUri: 'https://evil.example' };
    const wrong = await calls.authorize({ browser: browserWith(), parameters }, CALL);
    expect(wrong.step?.result).toMatchObject({
      $case: 'errorPage',
      value: { kind: ErrorPageKind.REQUEST, developerMessage: expect.stringMatching(/redirect_uri/) },
    });
    const begun = await calls.authorize({ browser: browserWith(), parameters: asked(clientId) }, CALL);
    const browser = browserWith(cookieOf(begun.step));
    const { interaction } = pageOf(begun.step);
    const { result } = await calls.showInteraction(
      { browser, page: InteractionPage.SIGN_IN, interaction },
      CALL,
    );
    const csrfToken = result?.$case === 'signInPage' ? (result.value.interaction?.csrfToken ?? '') : '';
    const guess = { browser, interaction, csrfToken, email: 'nobody@example.com', password: 'a guess' };
    for (let time = 0; time < 10; time += 1) {
      await calls.signIn(guess, CALL);
    }
    const refusal = await refusalOf(calls.signIn(guess, CALL));
    expect([refusal.code, refusal.retryAfterSeconds]).toEqual([ErrorCode.RATE_LIMITED, 2]);
  });

  test('sets a password and verifies an address with mailed links', async () => {
    const { calls, person, run } = await serving();
    const linkTo = async (purpose: 'invitation' | 'verify_email') => {
      const { token } = await run((changes) => makeLink(changes, accountOf(person), mailed(purpose)));
      return { linkTokenHash: Buffer.from(hashSecret(token)) };
    };
    const browser = browserWith();
    const link = await linkTo('invitation');
    const { result } = await calls.showPasswordLink(link, CALL);
    const setPasswordPage = { email: person.email, invitation: true };
    expect(result).toEqual({ $case: 'setPasswordPage', value: setPasswordPage });
    const short = await calls.redeemPasswordLink({ browser, ...link, password: 'fourteen rooks' }, CALL);
    expect(pageOf(short.step)).toMatchObject({
      page: InteractionPage.SET_PASSWORD,
      problem: PasswordProblem.TOO_SHORT,
    });
    const password = 'another quiet harbour';
    const set = await calls.redeemPasswordLink({ browser, ...link, password }, CALL);
    expect(pageOf(set.step).page).toBe(InteractionPage.PASSWORD_SET);
    const over = await calls.showPasswordLink(link, CALL);
    expect(over.result).toMatchObject({ $case: 'errorPage', value: { kind: ErrorPageKind.LINK } });

    const emailLink = await linkTo('verify_email');
    const shown = await calls.showEmailLink(emailLink, CALL);
    expect(shown.result).toEqual({ $case: 'verifyEmailPage', value: { email: person.email } });
    const verified = await calls.redeemEmailLink({ browser, ...emailLink }, CALL);
    expect(pageOf(verified.step).page).toBe(InteractionPage.EMAIL_VERIFIED);
    const nothing = await calls.showEmailLink({ linkTokenHash: Buffer.alloc(3) }, CALL);
    expect(nothing.result?.$case).toBe('errorPage');
  });

  test('that says nothing of itself is answered too', async () => {
    const { calls } = await serving();
    const { step } = await calls.authorize({ browser: undefined, parameters: undefined }, CALL);
    expect(step?.result?.$case).toBe('errorPage');
    const page = InteractionPage.UNSPECIFIED;
    const { result } = await calls.showInteraction({ browser: undefined, page, interaction: '' }, CALL);
    expect(result?.$case === 'step' && result.value.result?.$case).toBe('errorPage');
  });
});

function accountOf({ accountId, email }: Awaited<ReturnType<typeof newPerson>>) {
  return { id: accountId, email };
}

function mailed<P>(purpose: P) {
  return { purpose, lifetimeSeconds: undefined };
}
