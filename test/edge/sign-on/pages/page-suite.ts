import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ErrorPageKind,
  InteractionPage,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { SEEN_FIRST, SEND_ONCE, SHOW_PASSWORD } from '../../../../src/edge/pages/fields.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import type { Question } from '../../../support/http-exchange.js';
import { testFormPost } from '../form-post-suite.js';
import {
  expectErrorPage,
  expectOwnScripts,
  expectPage,
  testPageFaults,
  testPageRefusals,
  testStatuses,
} from '../refusals.js';
import { type MethodName, type SignOnServer, startSignOn } from '../server.js';

export const INTERACTION = 'cuFEEZ-nt-JWY2Ao6w4J4g';
export const LINK_TOKEN = 'kTmAy0IngJVyw9QKvhdKQPU__LhboUjX8ItW9fJA0jQ';
export const CSRF_TOKEN = 'X_2Hi8wjTaPDhZ6BZZtHvBRrezy8RgQqvLblf2KsX5c';
const COOKIE_VALUE = 'Zm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9';
export const COOKIE = `__Host-integration_session=${COOKIE_VALUE}`;
export const SESSION_HASH = hashSecret(COOKIE_VALUE);

/** What the pages of an authorization share, with markup in it that no page may take for its own. */
export const shared = {
  csrfToken: CSRF_TOKEN,
  applicationName: 'Northwind <Scheduling>',
  instanceName: 'Harborlight & "Sons"',
  formActionSource: 'https://app.example.com',
};

export interface PageCase {
  operationId: string;
  /** Those of the contract; each has its tests below. */
  statuses: readonly number[];
  path: string;
  method: MethodName;
  /** The query that is in order, and the name of its secret. */
  secret: 'interaction' | 'token';
  heading: string;
  /** What the domain gives for the page. */
  result: { $case: string; value: object };
  /** Pieces of the page. */
  shows: readonly (string | RegExp)[];
  /** What the domain is asked; for an interaction, besides the browser. */
  askedWith: object;
}

/** The shared behaviour of every page, run for each. */
export function describePage(page: PageCase): void {
  const { operationId, statuses, path, method, secret, heading, result, shows, askedWith } = page;
  const good = secret === 'interaction' ? INTERACTION : LINK_TOKEN;
  const target = `${path}?${secret}=${good}`;
  const question: Question = { headers: { cookie: COOKIE, 'user-agent': 'Test/1' } };
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const ask = (at = target, asked = question) => server.ask(operationId, at, asked);
  const answers = (given: object) => server.program({ [method]: async () => ({ result: given }) });

  test('200: the page shows what the domain says, as text', async () => {
    answers(result);
    const answer = await ask();
    expectPage(answer, 200, heading);
    for (const piece of shows) {
      expect(answer.body).toMatch(piece);
    }
    expect(answer.body).not.toMatch(/<Scheduling>|style=|\son\w+=/);
    const forms = answer.body.match(/<form [^>]*>/g) ?? [];
    const query = new RegExp(`^<form method="post" action="/auth/[a-z-]+\\?${secret}=${good}">$`);
    expect(forms).toEqual(forms.map(() => expect.stringMatching(query)));
    const scripts = [
      /name="(?:decision|context)"/.test(answer.body) && SEEN_FIRST,
      /<form/.test(answer.body) && SEND_ONCE,
      /type="password"/.test(answer.body) && SHOW_PASSWORD,
    ];
    expectOwnScripts(
      answer,
      scripts.filter((script) => script !== false),
    );
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
  });

  if (secret === 'token') {
    test('200: the domain is asked once, about the link and not the browser', async () => {
      answers(result);
      await ask();
      expect(server.asked).toEqual([{ method, request: askedWith }]);
    });
  } else {
    test('200: the domain is asked once, with the hash of the cookie and never the cookie', async () => {
      answers(result);
      await ask();
      const browser = { sessionHash: SESSION_HASH, remoteAddress: '127.0.0.1', userAgent: 'Test/1' };
      expect(server.asked).toEqual([{ method, request: { browser, ...askedWith } }]);
    });

    test('200: a browser without a cookie, and one of no shape of ours, are asked about without a session', async () => {
      answers(result);
      await ask(target, {});
      await ask(target, { headers: { cookie: '__Host-integration_session=x' } });
      const hashes = server.asked.map(
        ({ request }) => (request.browser as { sessionHash?: Buffer }).sessionHash,
      );
      expect(hashes).toEqual([undefined, undefined]);
    });
  }

  describe(secret === 'interaction' ? 'a browser that belongs elsewhere' : 'a link that is over', () => {
    const [kind, errorHeading] =
      secret === 'interaction'
        ? [ErrorPageKind.STALE, 'This page is no longer open']
        : [ErrorPageKind.LINK, 'This link does not work'];
    const errorPage = { kind, message: 'It is <over>.' };

    if (secret === 'interaction') {
      test('303: is taken where the interaction waits', async () => {
        const nextPage = { page: InteractionPage.CONSENT, interaction: INTERACTION, entrances: [] };
        answers({ $case: 'step', value: { result: { $case: 'nextPage', value: nextPage } } });
        const answer = await ask();
        const location = `/auth/consent?interaction=${INTERACTION}`;
        expect([answer.status, answer.headers.location]).toEqual([303, location]);
      });
    }

    test('400: gets the error page', async () => {
      const step = { result: { $case: 'errorPage', value: errorPage } };
      answers(
        secret === 'interaction' ? { $case: 'step', value: step } : { $case: 'errorPage', value: errorPage },
      );
      const answer = await ask();
      expectErrorPage(answer, 400, 'It is &lt;over&gt;.', errorHeading);
      expect(answer.body).toContain(`<title>${errorHeading}</title>`);
      expect(answer.body).not.toContain('badge bad');
    });
  });

  test.each([
    ['none', path],
    ['an empty one', `${path}?${secret}=`],
    ['too short a one', `${path}?${secret}=abc`],
    ['one with a character of no alphabet', `${target}%00`],
    ['one with markup', `${path}?${secret}=%3Cscript%3Ealert(1)%3C/script%3E`],
    ['two', `${target}&${secret}=${good}`],
  ])(`400: of ${secret}, %s is refused before the domain is asked`, async (_, at) => {
    answers(result);
    const answer = await ask(at);
    expectErrorPage(answer, 400, 'This address or form is not complete.');
    const onward = secret === 'token' ? 'Open the link in the message again.' : 'start again from there.';
    expect(answer.body).toContain(onward);
    expect(server.asked).toEqual([]);
  });

  const operation = { operationId, path: target, method, question };
  if (secret === 'interaction') {
    testFormPost(
      operation,
      () => server,
      (step) => ({ result: { $case: 'step', value: step } }),
    );
  }
  testPageRefusals(operation, () => server);
  testPageFaults(operation, () => server);
  testStatuses(operationId, statuses);
}
