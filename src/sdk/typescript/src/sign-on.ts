import { callbackCode, challengeOf, randomText } from './authorization-code.js';
import { OAuthError, SignInError } from './errors.js';
import {
  checkSecret,
  exchange,
  type Fetch,
  type Incoming,
  isObject,
  jsonOf,
  type Outgoing,
  retryAfterSecondsOf,
  serverUrl,
} from './exchange.js';
import type { RevocationRequest } from './generated/sign-on/models/RevocationRequest.js';
import type { TokenRequest } from './generated/sign-on/models/TokenRequest.js';
import {
  type IdTokenAlgorithm,
  type IdTokenClaims,
  IdTokenVerifier,
  type UserinfoClaims,
} from './id-token.js';
import {
  type RetryOptions,
  type RetryPolicy,
  retryPolicy,
  timeLimit,
  untilAborted,
  withRetries,
} from './retries.js';

export interface SignOnOptions {
  /** Issuer URL: the address of the sign-on server. */
  issuer: string;
  clientId: string;
  /** For confidential applications; public ones have none. */
  clientSecret?: string | undefined;
  redirectUri: string;
  /** The one registered for your application; default `RS256`. No other is accepted. */
  idTokenAlgorithm?: IdTokenAlgorithm | undefined;
  /** For each attempt, including the body of the answer. Default: 10000. */
  timeoutMs?: number | undefined;
  /** For userinfo, refreshes, revocation, keys. A code is never exchanged twice. `false` disables retries. */
  retry?: RetryOptions | false | undefined;
  /** Replaces the global one: for a proxy, or for your tests. */
  fetch?: Fetch | undefined;
  /** Also sends the client secret and tokens to `http://` beyond this machine, where others can read them. */
  allowInsecureHttp?: boolean | undefined;
}

export interface AuthorizationOptions {
  /** Default: `openid profile email`. */
  scope?: string | undefined;
  /** Default: random. */
  state?: string | undefined;
  /** Default: random. */
  nonce?: string | undefined;
  /** `none`, `login`, `consent`, `select_account`. */
  prompt?: string | undefined;
  loginHint?: string | undefined;
  /**
   * The longest time since the person entered the password; needs the scope `openid`. Give `exchangeCode` the
   * same: the browser, which carries this request, can leave it out.
   */
  maxAgeSeconds?: number | undefined;
  uiLocales?: string | undefined;
}

/** The URL for the browser; keep the rest in the person's session until it returns. */
export interface AuthorizationRequest {
  url: string;
  state: string;
  nonce: string;
  codeVerifier: string;
}

export interface CodeExchange {
  /** The callback of the browser: the whole address, or its path and query, as servers have it. */
  callbackUrl: string | URL;
  /** These three as `authorizationUrl` returned them. */
  state: string;
  nonce: string;
  codeVerifier: string;
  /** If you asked for one: the sign-in is refused if the person entered the password longer ago. */
  maxAgeSeconds?: number | undefined;
}

export interface Tokens {
  accessToken: string;
  expiresInSeconds: number;
  /** By your clock. */
  expiresAt: Date;
  /** Replaces the previous one, which is invalid now. `null` if your application has none. */
  refreshToken: string | null;
  /** Granted scopes, separated by spaces. */
  scope: string;
}

export interface SignIn extends Tokens {
  /** `null` without the scope `openid`, as are the claims. */
  idToken: string | null;
  /** The person who signed in, verified. */
  claims: IdTokenClaims | null;
}

export interface CallOptions {
  /** Ends the call, including its pauses. */
  signal?: AbortSignal | undefined;
  /** A request id of your own, which the service logs. */
  requestId?: string | undefined;
}

export interface LogoutOptions {
  /**
   * Recommended: with it, the person is not asked to confirm the sign-out. That of a person with many
   * clients is left out, because proxies refuse long addresses.
   */
  idToken?: string | null | undefined;
  /** Must be registered for your application. */
  postLogoutRedirectUri?: string | undefined;
  /** Returned to `postLogoutRedirectUri`. */
  state?: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** Of an answer. Those of the service have a few kilobytes. */
const MOST_BYTES = 1_048_576;
/** Many proxies take addresses of up to 8 KiB. */
const LONGEST_HINT = 7_000;
const DEFAULT_SCOPE = 'openid profile email';
/** The server repeats its answer for a minute; later it would treat the old refresh token as stolen. */
const REFRESH_ARRIVES_WITHIN_MS = 55_000;
/** With any time limit, a refresh is retried at least this long after it began. */
const REFRESH_AGAIN_AT_LEAST_MS = 10_000;
const REFRESH_AGAIN_AT_MOST_MS = 45_000;

/** Signs people in: authorization code flow, always with PKCE, and OpenID Connect. */
export class SignOn {
  readonly #settings: Omit<SignOnOptions, 'idTokenAlgorithm'> & { timeoutMs: number; retry: RetryPolicy };
  readonly #verifier: IdTokenVerifier;

  constructor(options: SignOnOptions) {
    const { clientId, clientSecret, redirectUri, fetch } = options;
    const what = 'the client secret and tokens';
    const issuer = serverUrl('issuer', options.issuer, what, options.allowInsecureHttp);
    if (!clientId || !redirectUri) {
      throw new TypeError('clientId and redirectUri are needed.');
    }
    const timeoutMs = timeLimit(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const retry = retryPolicy(options.retry);
    this.#settings = { issuer, clientId, clientSecret, redirectUri, timeoutMs, retry, fetch };
    this.#verifier = new IdTokenVerifier(issuer, clientId, options.idTokenAlgorithm ?? 'RS256', async (url) =>
      keysIn(await this.#ask({ url, method: 'GET', headers: {} }, {})),
    );
  }

  /** The address to which to send the browser to sign a person in. */
  async authorizationUrl(options: AuthorizationOptions = {}): Promise<AuthorizationRequest> {
    const state = options.state || randomText();
    const nonce = options.nonce || randomText();
    const codeVerifier = randomText();
    const url = this.#address('/auth/authorize', {
      response_type: 'code',
      client_id: this.#settings.clientId,
      redirect_uri: this.#settings.redirectUri,
      scope: options.scope ?? DEFAULT_SCOPE,
      state,
      nonce,
      code_challenge: await challengeOf(codeVerifier),
      code_challenge_method: 'S256',
      prompt: options.prompt,
      login_hint: options.loginHint,
      max_age: options.maxAgeSeconds?.toString(),
      ui_locales: options.uiLocales,
    });
    return { url, state, nonce, codeVerifier };
  }

  /**
   * Checks the callback of the browser, exchanges the code, and verifies the ID token. Throws `OAuthError` if
   * the server or the person refused, `SignInError` if the callback does not answer this request. Never
   * retries: after an error begin with a new `authorizationUrl`. If the ID token is not verified, it first
   * revokes the tokens.
   */
  async exchangeCode(
    { callbackUrl, state, nonce, codeVerifier, maxAgeSeconds }: CodeExchange,
    options: CallOptions = {},
  ): Promise<SignIn> {
    const { redirectUri: redirect_uri, issuer } = this.#settings;
    const expected = { redirectUri: redirect_uri, state, issuer };
    const code = callbackCode(callbackUrl, expected);
    const answer = await this.#askForTokens(
      { grant_type: 'authorization_code', code, redirect_uri, code_verifier: codeVerifier, ...this.#self() },
      options,
    );
    const tokens = tokensIn(answer);
    const idToken = textMember(answer, 'id_token');
    try {
      if (idToken === null && (maxAgeSeconds != null || tokens.scope.split(' ').includes('openid'))) {
        const message = 'The answer has no ID token; the scope openid and a maximum age require one.';
        throw new SignInError('id_token_missing', message);
      }
      if (idToken === null) {
        return { ...tokens, idToken, claims: null };
      }
      // Exchanges share a read of the keys, which goes on for the others.
      const verified = this.#verifier.verify(idToken, { nonce, maxAgeSeconds });
      return { ...tokens, idToken, claims: await untilAborted(verified, options.signal) };
    } catch (error) {
      // The caller does not get these tokens, which would stay valid for weeks. Asked once: the caller waits,
      // because some platforms end what still runs after the answer to the browser.
      const { requestId, signal } = options;
      const token = tokens.refreshToken ?? tokens.accessToken;
      const revoked = this.#revoke(token, { requestId }, retryPolicy(false));
      await untilAborted(revoked, signal).catch(() => undefined);
      throw error;
    }
  }

  /** New tokens for a refresh token. Store the new refresh token before you use the others. */
  async refresh(refreshToken: string, options: CallOptions = {}): Promise<Tokens> {
    const body = { grant_type: 'refresh_token', refresh_token: refreshToken, ...this.#self() } as const;
    const ask = () => this.#askForTokens(body, options);
    const { retry, timeoutMs } = this.#settings;
    // A retry can take as long as its time limit to arrive.
    const safeMs = Math.max(REFRESH_AGAIN_AT_LEAST_MS, REFRESH_ARRIVES_WITHIN_MS - timeoutMs);
    const withinMs = Math.min(safeMs, REFRESH_AGAIN_AT_MOST_MS);
    return tokensIn(await withRetries(ask, retry, options.signal, withinMs));
  }

  /** The person of the access token, at present. */
  async userinfo(accessToken: string, options: CallOptions = {}): Promise<UserinfoClaims> {
    checkSecret(accessToken, 'accessToken must be an access token, without spaces and line ends.');
    const headers = { authorization: `Bearer ${accessToken}` };
    const request = { url: this.#address('/auth/userinfo'), method: 'GET', headers };
    const incoming = await this.#ask(request, options);
    return objectIn(incoming, 'sub') as unknown as UserinfoClaims;
  }

  /**
   * Ends a token and all others of the same sign-in. Send the refresh token: an access token that has expired
   * may end nothing. Succeeds for tokens that have ended.
   */
  async revoke(token: string, options: CallOptions = {}): Promise<void> {
    await this.#revoke(token, options);
  }

  /** The address that ends the browser's session at the server. Revoke the tokens as well. */
  logoutUrl({ idToken, postLogoutRedirectUri, state }: LogoutOptions = {}): string {
    return this.#address('/auth/logout', {
      client_id: this.#settings.clientId,
      id_token_hint: idToken && idToken.length <= LONGEST_HINT ? idToken : undefined,
      post_logout_redirect_uri: postLogoutRedirectUri,
      state,
    });
  }

  #revoke(token: string, options: CallOptions, policy?: RetryPolicy): Promise<Incoming> {
    const body: RevocationRequest = { token, ...this.#self() };
    return this.#ask(this.#post('/auth/revoke', body), options, policy);
  }

  async #askForTokens(body: TokenRequest, options: CallOptions): Promise<Record<string, unknown>> {
    const incoming = await this.#ask(this.#post('/auth/token', body), options, retryPolicy(false));
    const answer = objectIn(incoming, 'access_token');
    if (!Number.isInteger(answer.expires_in) || typeof answer.scope !== 'string') {
      throw unexpected(incoming);
    }
    return answer;
  }

  #self(): { client_id: string; client_secret?: string } {
    const { clientId: client_id, clientSecret: client_secret } = this.#settings;
    return !client_secret ? { client_id } : { client_id, client_secret };
  }

  #post(path: string, body: unknown): Outgoing {
    const headers = { 'content-type': 'application/json' };
    return { url: this.#address(path), method: 'POST', headers, body: JSON.stringify(body) };
  }

  #address(path: string, parameters: Record<string, string | undefined> = {}): string {
    const given = Object.entries(parameters).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const query = new URLSearchParams(given).toString();
    return `${this.#settings.issuer}${path}${query && `?${query}`}`;
  }

  #ask(outgoing: Outgoing, { signal, requestId }: CallOptions, policy?: RetryPolicy): Promise<Incoming> {
    const { fetch, timeoutMs, retry } = this.#settings;
    const id: Record<string, string> = requestId === undefined ? {} : { 'x-request-id': requestId };
    const request = { ...outgoing, headers: { ...outgoing.headers, ...id } };
    const attempt = async () => {
      const incoming = await exchange(request, { fetch, timeoutMs, mostBytes: MOST_BYTES, signal });
      if (incoming.status !== 200) {
        throw errorOf(incoming);
      }
      return incoming;
    };
    return withRetries(attempt, policy ?? retry, signal);
  }
}

function tokensIn(answer: Record<string, unknown>): Tokens {
  const expiresInSeconds = Number(answer.expires_in);
  return {
    accessToken: String(answer.access_token),
    expiresInSeconds,
    expiresAt: new Date(Date.now() + expiresInSeconds * 1000),
    refreshToken: textMember(answer, 'refresh_token'),
    scope: String(answer.scope),
  };
}

function textMember(answer: Record<string, unknown>, name: string): string | null {
  const value = answer[name];
  return typeof value === 'string' ? value : null;
}

/** The JSON object of an answer, which must have this member. */
function objectIn(incoming: Incoming, member: string): Record<string, unknown> {
  const json = jsonOf(incoming);
  if (!isObject(json) || typeof json[member] !== 'string') {
    throw unexpected(incoming);
  }
  return json;
}

function keysIn(incoming: Incoming): unknown[] {
  const json = jsonOf(incoming);
  if (!isObject(json) || !Array.isArray(json.keys)) {
    throw unexpected(incoming);
  }
  return json.keys;
}

function unexpected(incoming: Incoming): OAuthError {
  return oauthError(incoming, 'unexpected_response', 'The answer is not what the contract describes.');
}

function errorOf(incoming: Incoming): OAuthError {
  const json = jsonOf(incoming);
  return isObject(json) && typeof json.error === 'string'
    ? oauthError(incoming, json.error, textMember(json, 'error_description'))
    : oauthError(
        incoming,
        'unexpected_response',
        `The answer is ${incoming.status}, and not the server's own.`,
      );
}

function oauthError({ status, headers }: Incoming, error: string, description: string | null): OAuthError {
  const requestId = headers.get('x-request-id');
  return new OAuthError({
    error,
    description,
    status,
    requestId,
    retryAfterSeconds: retryAfterSecondsOf(headers),
  });
}
