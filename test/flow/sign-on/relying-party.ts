import * as client from 'openid-client';
import type { DemoFileApplication } from '../../../src/cli/demo/demo-file.js';
import { eventually } from '../../support/eventually.js';
import type { Page, TestBrowser } from '../../support/test-browser.js';
import { type Choices, type Walk, walk } from './walk.js';

export type Tokens = Awaited<ReturnType<typeof client.authorizationCodeGrant>>;

export type RegisteredApplication = Pick<DemoFileApplication, 'clientId' | 'clientSecret' | 'redirectUris'>;

/** What an application keeps between sending a browser away and seeing it again. */
interface Kept {
  pkceCodeVerifier: string;
  expectedState: string;
  expectedNonce: string;
  maxAge?: number;
}

export interface SignInTried extends Walk {
  kept: Kept;
  /** Outside the service, with `code` or `error`. */
  returned: URL;
}

type Parameters = Record<string, string>;

export const SCOPE = 'openid profile email';

export interface PartyOptions {
  /** In the order of the demo: Harborlight, Juniper. */
  instance?: 'harborlight' | 'juniper';
  authentication?: 'basic' | 'post';
  /** Refuses ID tokens that are signed with another. */
  algorithm?: string;
}

/** An application as people write them: all that it knows of the protocol is npm openid-client. */
export class RelyingParty {
  private constructor(
    readonly config: client.Configuration,
    readonly application: RegisteredApplication,
    readonly redirectUri: string,
  ) {}

  static async of(
    url: string,
    application: RegisteredApplication,
    { instance = 'harborlight', authentication = 'post', algorithm = 'RS256' }: PartyOptions = {},
  ): Promise<RelyingParty> {
    const { clientId, clientSecret, redirectUris } = application;
    const authenticate = authentication === 'basic' ? client.ClientSecretBasic : client.ClientSecretPost;
    const config = await client.discovery(
      new URL(url),
      clientId,
      { id_token_signed_response_alg: algorithm },
      clientSecret === undefined ? client.None() : authenticate(clientSecret),
      { execute: [client.allowInsecureRequests], [client.customFetch]: fetchPatiently },
    );
    const { uri } = redirectUris[instance === 'harborlight' ? 0 : 1] as { uri: string };
    return new RelyingParty(config, application, uri);
  }

  /** Where it sends a browser, and what it keeps meanwhile. An empty parameter is left out. */
  async begin(parameters: Parameters = {}): Promise<{ address: URL; kept: Kept }> {
    const kept = {
      pkceCodeVerifier: client.randomPKCECodeVerifier(),
      expectedState: client.randomState(),
      expectedNonce: client.randomNonce(),
      ...(parameters.max_age !== undefined && { maxAge: Number(parameters.max_age) }),
    };
    const all: Parameters = {
      redirect_uri: this.redirectUri,
      scope: SCOPE,
      state: kept.expectedState,
      nonce: kept.expectedNonce,
      code_challenge: await client.calculatePKCECodeChallenge(kept.pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...parameters,
    };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    return { address: client.buildAuthorizationUrl(this.config, sent), kept };
  }

  /** Sends a browser away and waits until it is back; again where the service is too busy. */
  async tryToSignIn(
    browser: TestBrowser,
    choices: Choices = {},
    parameters: Parameters = {},
  ): Promise<SignInTried> {
    const { kept, pages, end } = await eventually('a walk without a 503', async () => {
      const { address, kept } = await this.begin(parameters);
      const walked = await walk(browser, await browser.open(address), choices);
      return !isTurnedAway(walked.end) && { ...walked, kept };
    });
    if (!end.hasLeft) {
      throw new Error(`The browser stays at “${end.heading}”:\n${end.text}`);
    }
    return { pages, end, kept, returned: end.url };
  }

  /** The page at which a person who does nothing stays. */
  async pageOf(browser: TestBrowser, parameters: Parameters = {}): Promise<Page> {
    return eventually('a page', async () => {
      const page = await browser.open((await this.begin(parameters)).address);
      return !isTurnedAway(page) && page;
    });
  }

  /** All checks that the library knows, and then the tokens. */
  exchange({ returned, kept }: Pick<SignInTried, 'returned' | 'kept'>): Promise<Tokens> {
    return client.authorizationCodeGrant(this.config, returned, { ...kept, idTokenExpected: true });
  }

  async signIn(browser: TestBrowser, choices: Choices = {}, parameters: Parameters = {}): Promise<Tokens> {
    return (await this.enter(browser, choices, parameters)).tokens;
  }

  /** Signs in, and gives the walk too. Begins again where the answer to the code was a 503. */
  enter(browser: TestBrowser, choices: Choices = {}, parameters: Parameters = {}) {
    return eventually('tokens', async () => {
      const tried = await this.tryToSignIn(browser, choices, parameters);
      const tokens = await this.exchange(tried).catch((error: Error) => {
        if (error.cause instanceof Response && error.cause.status === 503) {
          return undefined;
        }
        throw error;
      });
      return tokens && { tried, tokens };
    });
  }
}

/** Asks again while the service is too busy. A code is sent once: it may be redeemed by then. */
const fetchPatiently: client.CustomFetch = (url, options) => {
  const { body } = options;
  const isCode = body instanceof URLSearchParams && body.get('grant_type') === 'authorization_code';
  return eventually('an answer', async () => {
    const response = await fetch(url, options as RequestInit);
    return (isCode || response.status !== 503) && response;
  });
};

/** Whether the page, or the error for the application, says to try again. */
function isTurnedAway({ hasLeft, url, status }: Page): boolean {
  return hasLeft ? url.searchParams.get('error') === 'temporarily_unavailable' : status === 503;
}

/** The refusal of the service: `invalid_grant`, or the status if it has no body. */
export async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const failure = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof client.ResponseBodyError || failure instanceof client.AuthorizationResponseError) {
    return failure.error;
  }
  if (failure instanceof client.WWWAuthenticateChallengeError) {
    return failure.cause[0]?.parameters.error ?? String(failure.status);
  }
  throw failure ?? new Error('It was not refused.');
}
