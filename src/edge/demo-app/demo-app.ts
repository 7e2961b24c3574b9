import { operations } from '../../../generated/openapi/sign-on-operations.js';
import type { Dispatch, HttpAnswer, HttpRequest } from '../http/exchange.js';
import { LOGO, pageHeaders } from './pages/frame.js';
import { signedInPage } from './pages/signed-in.js';
import {
  failurePage,
  type Instance,
  missingPage,
  NO_CREDENTIALS,
  type Person,
  privacyPage,
  SIGN_IN_PATH,
  signedOutPage,
  signInPath,
  startPage,
  termsPage,
} from './pages/start.js';
import {
  attemptsCookie,
  attemptsIn,
  challengeOf,
  claimsOf,
  exchangeCode,
  NoTokens,
  newAttempt,
  type SignInAttempt,
  userinfoOf,
} from './sign-on-client.js';

const SCOPE = 'openid profile email';
const METHOD = 'GET';
/** Without the headers of a page: sign-on pages show the logo too, under their own policy. */
const LOGO_HEADERS = { 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=300' };
/** Any other name may be an attack by DNS rebinding. */
const OWN_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The credentials of this application, and the people of the demo. */
export interface DemoAppAccess {
  clientId: string;
  clientSecret: string;
  people: readonly Person[];
}

interface DemoAppOptions {
  url: string;
  signOnUrl: string;
  docsUrl: string;
  /** The first is the default. */
  instances: readonly Instance[];
  /** Read for each page: a restarted demo may have other credentials. */
  access: () => DemoAppAccess | undefined;
}

/** An application like those of integrators, for the sign-ins of the demo. */
export function createDemoApp(options: DemoAppOptions): Dispatch {
  const app = new DemoApp(options);
  const ownHost = new URL(options.url).hostname;
  return async (request) => {
    const { method, path, query, headers } = request;
    const host = String(headers.host).replace(/:\d+$/, '').toLowerCase();
    if (!OWN_HOSTS.has(host)) {
      return { ...text(421, 'This application answers at localhost only.\n'), operation: 'none' };
    }
    const [operation, answer] = app.routeOf(path);
    if (method !== METHOD) {
      const { headers: kept, ...refusal } = text(405, 'This address accepts GET.\n');
      return { ...refusal, headers: { ...kept, allow: METHOD }, operation };
    }
    if (operation !== 'none' && host !== ownHost) {
      // The sign-in returns to the own host, to which the browser sends no cookie of another host.
      const location = `${options.url}${path}${query.size > 0 ? `?${query}` : ''}`;
      return { status: 302, headers: { location, 'cache-control': 'no-store' }, operation };
    }
    return { ...(await answer(request)), operation };
  };
}

class DemoApp {
  constructor(private readonly options: DemoAppOptions) {}

  /** The operation for the log, and its handler. */
  routeOf(
    path: string,
  ): [operation: string, answer: (request: HttpRequest) => Promise<HttpAnswer> | HttpAnswer] {
    const { instances, access, docsUrl } = this.options;
    const instance = instances.find(({ callbackPath }) => callbackPath === path);
    if (instance) {
      return ['demoAppCallback', (request) => this.#callback(request, instance.name)];
    }
    switch (path) {
      case '/':
        return ['demoAppStart', () => page(200, startPage(instances, access()?.people ?? []))];
      case SIGN_IN_PATH:
        return ['demoAppSignIn', (request) => this.#signIn(request)];
      case '/signed-out':
        return [
          'demoAppSignedOut',
          ({ query }) => page(200, signedOutPage(query.get('state') ?? '', docsUrl)),
        ];
      case '/logo.svg':
        return ['demoAppLogo', () => ({ status: 200, headers: LOGO_HEADERS, body: LOGO })];
      case '/privacy':
        return ['demoAppPrivacy', () => page(200, privacyPage)];
      case '/terms':
        return ['demoAppTerms', () => page(200, termsPage)];
      default:
        return ['none', () => page(404, missingPage)];
    }
  }

  /** Redirects to the sign-on server, with the values that bind its answer to this browser. */
  #signIn({ query, headers: { cookie } }: HttpRequest): HttpAnswer {
    const { instances, signOnUrl, access } = this.options;
    const asked = query.get('callback');
    const instanceId = query.get('instance_id');
    const { callbackPath = '' } =
      instances.find(({ id, callbackPath }) => id === instanceId || callbackPath === asked) ??
      instances[0] ??
      {};
    const clientId = access()?.clientId;
    if (clientId === undefined) {
      return failure(503, NO_CREDENTIALS, callbackPath);
    }
    // OpenID Connect Core 4: another server must not begin a sign-in here.
    if ((query.get('iss') ?? signOnUrl) !== signOnUrl) {
      return failure(
        400,
        'This sign-in was started by a sign-on server other than that of this demo.',
        callbackPath,
      );
    }
    const attempt = newAttempt();
    const email = query.get('email');
    const parameters = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: this.#redirectUri(callbackPath),
      scope: SCOPE,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: challengeOf(attempt),
      code_challenge_method: 'S256',
      // The visitor chose a person, or asked for another one: an earlier session must not answer.
      ...(query.has('email') || query.has('another') ? { prompt: 'login' } : {}),
      ...(email ? { login_hint: email } : {}),
    });
    const location = `${signOnUrl}${operations.authorize.path}?${parameters}`;
    const kept = attemptsCookie([attempt, ...attemptsIn(cookie)]);
    return { status: 302, headers: { location, 'cache-control': 'no-store', 'set-cookie': kept } };
  }

  async #callback({ query, headers, path }: HttpRequest, instanceName: string): Promise<HttpAnswer> {
    const attempts = attemptsIn(headers.cookie);
    const attempt = attempts.find(({ state }) => state === query.get('state'));
    if (!attempt) {
      return failure(
        400,
        'This page was opened before, or its sign-in began in another browser, more than an hour ago or before five others. The application keeps no tokens, so it cannot show them again: sign in again.',
        path,
      );
    }
    // The attempt ends here, also on failure: a code works once.
    const withoutAttempt = { 'set-cookie': attemptsCookie(attempts.filter((one) => one !== attempt)) };
    try {
      const answer = await this.#signedIn(query, path, instanceName, attempt);
      return { ...answer, headers: { ...answer.headers, ...withoutAttempt } };
    } catch (error) {
      if (!(error instanceof NoTokens)) {
        throw error;
      }
      const refusal = failure(400, error.message, path, error.code);
      return { ...refusal, headers: { ...refusal.headers, ...withoutAttempt } };
    }
  }

  async #signedIn(
    query: URLSearchParams,
    path: string,
    instanceName: string,
    attempt: SignInAttempt,
  ): Promise<HttpAnswer> {
    const { signOnUrl, docsUrl, url, access } = this.options;
    // RFC 9207: a code of another server must not be sent to this one.
    if (query.get('iss') !== signOnUrl) {
      throw new NoTokens('The answer is not from the sign-on server of this demo.');
    }
    const refused = query.get('error');
    if (refused !== null) {
      throw new NoTokens(query.get('error_description') ?? 'The sign-in was refused.', refused);
    }
    const { clientId = '', clientSecret = '' } = access() ?? {};
    const { codeVerifier, nonce } = attempt;
    const code = query.get('code') ?? '';
    const exchange = { clientId, clientSecret, redirectUri: this.#redirectUri(path), code, codeVerifier };
    const tokens = await exchangeCode(signOnUrl, exchange);
    const claims = claimsOf(tokens, { issuer: signOnUrl, clientId, nonce });
    const userinfo = await userinfoOf(signOnUrl, tokens);
    if (userinfo.sub !== claims.sub) {
      throw new NoTokens('The answer of userinfo is about another person than the ID token.');
    }
    const signOut = new URLSearchParams({
      id_token_hint: tokens.idToken,
      post_logout_redirect_uri: `${url}/signed-out`,
      state: path,
    });
    const content = signedInPage({
      signOnUrl,
      docsUrl,
      instanceName,
      exchange,
      tokens,
      claims,
      userinfo,
      signOutUrl: `${signOnUrl}${operations.logout.path}?${signOut}`,
      otherPersonUrl: signInPath({ callback: path, another: '' }),
    });
    return page(200, content);
  }

  #redirectUri(callbackPath: string): string {
    return `${this.options.url}${callbackPath}`;
  }
}

function failure(status: number, message: string, callbackPath: string, code?: string): HttpAnswer {
  return page(status, failurePage(message, callbackPath, code));
}

function page(status: number, body: string): HttpAnswer {
  return { status, headers: pageHeaders, body };
}

function text(status: number, body: string): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    body,
  };
}
