import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { ApplicationType } from '../../generated/proto/integration/operator/v1/applications.js';
import { SigningAlgorithm } from '../../generated/proto/integration/operator/v1/signing_keys.js';
import { type DemoEnvironment, demoEnvironment, instanceIds } from '../flow/sign-on/demo-environment.js';
import { call } from '../flow/sign-on/environment.js';
import type { Credentials } from '../flow/sign-on/walk.js';
import { chromiumVisits } from '../support/chromium.js';
import { listenOnLoopback } from '../support/loopback.js';

/** Without a known verifier: these codes are never exchanged. */
const CODE_CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** The state to which the application answers a form with nothing, so that the browser stays at its page. */
export const STAYS = 'stays';

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="48"><rect width="160" height="48" rx="8" fill="#0b7a75"/><text x="80" y="32" text-anchor="middle" font-size="22" fill="#fff">ROTA</text></svg>';

/** What an application learns when a browser comes back. */
export interface Returned {
  state: string | undefined;
  code: boolean;
  error: string | undefined;
}

/** A demo environment, Chromium, and one application that waits for browsers to come back. */
export function signOnInChromium(executablePath: string) {
  const environment = demoEnvironment();
  const visits = chromiumVisits(executablePath);
  /** What forms brought, oldest first. */
  const posts: { path: string; origin: string | undefined; fields: Record<string, string> }[] = [];
  const listener = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const fields = Object.fromEntries(new URLSearchParams(await text(request)));
      posts.push({ path: request.url ?? '', origin: request.headers.origin, fields });
      if (fields.state === STAYS) {
        response.writeHead(204).end();
        return;
      }
      // Takes Reload and Back away from the form, as applications should.
      response.writeHead(303, { location: '/signed-in' }).end();
      return;
    }
    if (request.url === '/logo.svg') {
      response.setHeader('Content-Type', 'image/svg+xml');
      response.end(LOGO);
      return;
    }
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><html lang="en"><title>Rota Planner</title><h1>Welcome back</h1>');
  });
  let [home, clientId] = ['', ''];
  beforeAll(async () => {
    home = `http://localhost:${await listenOnLoopback(listener)}`;
    clientId = await register(environment.demo, home);
  });
  afterAll(() => {
    listener.closeAllConnections();
    listener.close();
  });

  return {
    ...visits,
    posts,
    get demo() {
      return environment.demo;
    },
    get signedOutUrl() {
      return `${home}/signed-out`;
    },
    get clientId() {
      return clientId;
    },
    /** Where the application sends browsers that shall sign in. */
    authorization(parameters: Record<string, string> = {}): string {
      const query = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: `${home}/callback`,
        scope: 'openid profile email',
        state: 'a state',
        code_challenge: CODE_CHALLENGE,
        code_challenge_method: 'S256',
        ...parameters,
      };
      return `${environment.demo.url}/auth/authorize?${new URLSearchParams(query)}`;
    },
    /** The same by a form, whose fields it gives. */
    async returnedByForm(page: Page): Promise<Record<string, string>> {
      await page.waitForURL(`${home}/signed-in`);
      const last = posts.at(-1);
      expect(last?.path).toBe('/callback');
      return last?.fields ?? {};
    },
    /** Waits until the browser is back at the application. */
    async returned(page: Page): Promise<Returned> {
      await page.waitForURL((url) => url.origin === home);
      const { searchParams } = new URL(page.url());
      const { state, code, error } = Object.fromEntries(searchParams) as Record<string, string | undefined>;
      return { state, code: code !== undefined, error };
    },
  };
}

export type SignOnInChromium = ReturnType<typeof signOnInChromium>;

export async function fillSignIn(page: Page, { email, password }: Credentials): Promise<void> {
  await page.fill('#email', email);
  await page.fill('#password', password);
  await page.click('#sign-in');
}

/** Where scripts run, the consent page takes a decision once it has been seen for a moment. */
export async function consentReady(page: Page): Promise<void> {
  await seenForAMoment(page, '#approve');
}

/** As the consent page, so does the page of the contexts. */
export async function choicesReady(page: Page): Promise<void> {
  await seenForAMoment(page, '[name=context]');
}

async function seenForAMoment(page: Page, button: string): Promise<void> {
  // The script has run when it is there. The load state of a page that the browser has kept may never come.
  await page.locator(`body:has(> script) form:not([data-rests]) ${button}`).first().waitFor();
}

export async function pressAllow(page: Page): Promise<void> {
  await consentReady(page);
  await page.click('#approve');
}

/** What is said beside the field of the password, as soon as something is. */
export async function saidOfPassword(page: Page): Promise<string> {
  const field = page.locator('.field', { has: page.locator('#password') });
  return field.getByRole('alert').innerText();
}

export function heading(page: Page): Promise<string> {
  return page.locator('h1').innerText();
}

/** Waits for a page by what stands over it. */
export async function at(page: Page, title: string | RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
}

async function register({ operator }: DemoEnvironment, home: string): Promise<string> {
  const { application } = await operator.createApplication(
    {
      name: 'Rota Planner',
      type: ApplicationType.CONFIDENTIAL,
      redirectUris: [{ uri: `${home}/callback`, instanceId: instanceIds.harborlight }],
      postLogoutRedirectUris: [`${home}/signed-out`],
      allowedScopes: [],
      allowedGrantTypes: [],
      firstParty: false,
      signOutEndsTokens: false,
      idTokenAlgorithm: SigningAlgorithm.RS256,
      logoUri: `${home}/logo.svg`,
      policyUri: `${home}/privacy`,
      tosUri: `${home}/terms`,
      initiateLoginUri: `${home}/sign-in`,
    },
    call(),
  );
  return application?.id ?? '';
}

/**
 * Waits for the logo of the application, and fails if it is no image. Not with `waitForFunction`: that asks
 * again with `eval`, which the policy of our pages forbids.
 */
export async function logoLoaded(page: Page): Promise<void> {
  await page.locator('.logo').waitFor();
  await page.evaluate("document.querySelector('.logo').decode()");
}
