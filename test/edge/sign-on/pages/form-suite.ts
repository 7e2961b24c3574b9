import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ErrorPageKind,
  InteractionPage,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import type { Exchange } from '../../../support/http-exchange.js';
import { testFormPost } from '../form-post-suite.js';
import { expectErrorPage, refusing, testPageFaults, testPageRefusals, testStatuses } from '../refusals.js';
import { formPost, type MethodName, SIGN_ON_URL, type SignOnServer, startSignOn } from '../server.js';
import { COOKIE, INTERACTION, SESSION_HASH } from './page-suite.js';

export interface FormCase {
  operationId: string;
  statuses: readonly number[];
  path: string;
  method: MethodName;
  /** A form that is in order. */
  fields: Record<string, string>;
  /** What the domain is asked, besides the browser. */
  askedWith: object;
  /** Fields that break the contract, with what makes them. */
  unfit: readonly (readonly [what: string, fields: Record<string, string>])[];
  /** Where its own page for too many passwords leads back to, if it has one. */
  backUrl?: string;
}

const FRESH = 'bmV3dmFsdWVuZXd2YWx1ZW5ld3ZhbHVlbmV3dmFsdWU';
const SAME_ORIGIN = { cookie: COOKIE, 'sec-fetch-site': 'same-origin', origin: 'null' };

/** The shared behaviour of every form, run for each with its fields. */
export function describeForm(form: FormCase): void {
  const { operationId, statuses, path, method, fields, askedWith, unfit, backUrl } = form;
  const question = formPost(fields, SAME_ORIGIN);
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const ask = (asked = question): Promise<Exchange> => server.ask(operationId, path, asked);
  const leadsTo = (result: object, sessionCookie?: object) =>
    server.program({ [method]: async () => ({ step: { result, sessionCookie } }) });
  const leadsOn = () =>
    leadsTo({ $case: 'redirect', value: { location: 'https://app.example.com/callback?code=c&state=s' } });

  describe('303', () => {
    test('the domain is asked once, with what was typed to the letter', async () => {
      leadsOn();
      await ask();
      const browser = { sessionHash: SESSION_HASH, remoteAddress: '127.0.0.1', userAgent: '' };
      expect(server.asked).toEqual([{ method, request: { browser, ...askedWith } }]);
    });

    test('back to the application, with a fresh cookie that only this host gets', async () => {
      leadsTo(
        { $case: 'redirect', value: { location: 'https://app.example.com/callback?code=c&state=s' } },
        { change: { $case: 'setValue', value: FRESH } },
      );
      const { status, headers, body } = await ask();
      expect([status, body]).toEqual([303, '']);
      expect(headers).toMatchObject({
        location: 'https://app.example.com/callback?code=c&state=s',
        'set-cookie': [`__Host-integration_session=${FRESH}; Path=/; HttpOnly; SameSite=Lax; Secure`],
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      });
    });

    test('to the next page, without a word of the cookie when it stays', async () => {
      leadsTo({
        $case: 'nextPage',
        value: { page: InteractionPage.SIGNED_OUT, interaction: '', entrances: [] },
      });
      const { status, headers } = await ask();
      expect([status, headers.location, headers['set-cookie']]).toEqual([303, '/auth/signed-out', undefined]);
    });
  });

  describe('400', () => {
    const stale = (continueUrl: string) =>
      leadsTo({
        $case: 'errorPage',
        value: { kind: ErrorPageKind.STALE, message: 'Over.', continueUrl },
      });

    test('a step of the domain without a target is the error page, which does not redirect', async () => {
      stale('/auth/authorize?client_id=a&state="');
      const answer = await ask();
      expectErrorPage(answer, 400, 'Over.', 'This page is no longer open');
      expect(answer.body).toContain('href="/auth/authorize?client_id=a&amp;state=&quot;">Start again</a>');
      expect(answer.headers.location).toBeUndefined();
    });

    test('a way onward that signs out is called so', async () => {
      stale('/auth/logout');
      expect((await ask()).body).toContain('href="/auth/logout">Sign out</a>');
    });

    test.each(['https://evil.example.com/', '//evil.example.com/', 'javascript:alert(1)', 'auth/authorize'])(
      'a way onward that is none of ours is left out: %s',
      async (continueUrl) => {
        stale(continueUrl);
        expect((await ask()).body).not.toContain('Start again');
      },
    );

    test.each(Object.keys(fields))(
      'a form without %s is refused before the domain is asked',
      async (name) => {
        leadsOn();
        const { [name]: _, ...others } = fields;
        expectErrorPage(
          await ask(formPost(others, SAME_ORIGIN)),
          400,
          'This address or form is not complete.',
        );
        expect(server.asked).toEqual([]);
      },
    );

    test.each(Object.keys(fields))('so is one with two of %s', async (name) => {
      leadsOn();
      const twice = { ...fields, [name]: [fields[name] ?? '', fields[name] ?? ''] };
      expectErrorPage(await ask(formPost(twice, SAME_ORIGIN)), 400, 'This address or form is not complete.');
      expect(server.asked).toEqual([]);
    });

    test.each(unfit)('so is one with %s', async (_, spoiled) => {
      leadsOn();
      expectErrorPage(await ask(formPost({ ...fields, ...spoiled }, SAME_ORIGIN)), 400, 'not complete');
      expect(server.asked).toEqual([]);
    });

    test.each([
      ['a broken escape', '&x=%zz'],
      ['an escape that is not UTF-8', '&x=%ff'],
      ['bytes that are not UTF-8', Buffer.from([0x26, 0x78, 0x3d, 0xff])],
    ])('so is one with %s', async (_, more) => {
      leadsOn();
      const body = Buffer.concat([Buffer.from(String(question.body)), Buffer.from(more)]);
      expectErrorPage(await ask({ ...question, body }), 400, 'not complete');
      expect(server.asked).toEqual([]);
    });

    test.each<[string, Record<string, string>]>([
      ['another site', { 'sec-fetch-site': 'cross-site' }],
      ['a neighbouring host', { 'sec-fetch-site': 'same-site', origin: SIGN_ON_URL }],
      ['another origin, by an older browser', { origin: 'https://evil.example.com' }],
      ['the same host without its security', { origin: 'http://sign-on.example.com' }],
    ])('a form from %s is refused before the domain is asked', async (_, headers) => {
      leadsOn();
      const answer = await ask(formPost(fields, { cookie: COOKIE, ...headers }));
      expectErrorPage(answer, 400, 'This form was sent from another site.');
      expect(server.asked).toEqual([]);
    });

    test.each<[string, Record<string, string>]>([
      ['a browser that says nothing', {}],
      ['an older browser', { origin: SIGN_ON_URL }],
      ['an older browser under our referrer policy', { origin: 'null' }],
      ['a person who repeats the request', { 'sec-fetch-site': 'none' }],
    ])('one from %s is not', async (_, headers) => {
      leadsOn();
      expect((await ask(formPost(fields, headers))).status).toBe(303);
    });
  });

  test('an unknown field is ignored, whatever its name', async () => {
    leadsOn();
    const more = { ...fields, __proto__x: '1', constructor: ['1', '2'], 'a b': '\0' };
    expect((await ask(formPost(more, SAME_ORIGIN))).status).toBe(303);
  });

  describe('a form that meets a fault, a limit or a restart', () => {
    const query = `own=%221%22&token=${INTERACTION}`;
    const page = path === '/auth/cancel' ? '/auth/choose-context' : path;
    const back = `href="${page}?${query.replace('&', '&amp;')}">Back</a>`;
    const failing = (code: ErrorCode) => {
      refusing(server, method, new ServiceError(code, 'No.'));
      return server.ask(operationId, `${path}?${query}`, question);
    };

    // A page of its own says that there were too many passwords.
    const limit = backUrl === undefined ? [ErrorCode.RATE_LIMITED] : [];
    test.each([ErrorCode.INTERNAL_ERROR, ErrorCode.UNAVAILABLE, ...limit])(
      'leads back to its page: %s',
      async (code) => {
        expect((await failing(code)).body).toContain(back);
      },
    );

    test('leads back to its page when it cannot be read', async () => {
      const asked = { ...question, headers: { 'content-type': 'text/plain' } };
      const answer = await server.ask(operationId, `${path}?${query}`, asked);
      expect([answer.status, answer.body]).toEqual([415, expect.stringContaining(back)]);
    });

    test('or says where to begin', async () => {
      expect((await failing(ErrorCode.INVALID_REQUEST)).body).not.toContain('id="continue"');
    });
  });

  const operation = { operationId, path, method, question, backUrl };
  if (statuses.includes(200)) {
    testFormPost(operation, () => server);
  }
  testPageRefusals(operation, () => server);
  testPageFaults(operation, () => server);
  testStatuses(operationId, statuses);
}
