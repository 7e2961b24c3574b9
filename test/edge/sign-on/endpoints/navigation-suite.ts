import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ErrorPageKind,
  InteractionPage,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import type { Question } from '../../../support/http-exchange.js';
import { testFormPost } from '../form-post-suite.js';
import { COOKIE, INTERACTION, SESSION_HASH } from '../pages/page-suite.js';
import { expectErrorPage, refusing, testPageFaults, testPageRefusals, testStatuses } from '../refusals.js';
import { formPost, type SignOnServer, startSignOn } from '../server.js';

export interface NavigationCase {
  operationId: string;
  statuses: readonly number[];
  path: string;
  verb: 'GET' | 'POST';
  method: 'authorize' | 'logout';
  /** Every known parameter, with a value. */
  parameters: Record<string, string>;
  /** What the domain learns of these parameters. */
  toMessage(parameters: Record<string, string>, repeatedNames: string[]): object;
}

type Pairs = readonly (readonly [name: string, value: string])[];

const encoded = (pairs: Pairs) => String(new URLSearchParams(pairs as [string, string][]));

/** What an application sends a browser to, by address and by form. */
export function describeNavigation(navigation: NavigationCase): void {
  const { operationId, statuses, path, verb, method, parameters, toMessage } = navigation;
  const browser = { sessionHash: SESSION_HASH, remoteAddress: '127.0.0.1', userAgent: '' };
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const asking = (pairs: Pairs, headers: Question['headers'] = { cookie: COOKIE }) =>
    verb === 'GET'
      ? server.ask(operationId, `${path}?${encoded(pairs)}`, { headers })
      : server.ask(operationId, path, { ...formPost({}, headers), body: encoded(pairs) });
  const leadsTo = (result: object, sessionCookie?: object) =>
    server.program({ [method]: async () => ({ step: { result, sessionCookie } }) });
  const leadsToSignIn = (cookie?: object) =>
    leadsTo(
      {
        $case: 'nextPage',
        value: { page: InteractionPage.SIGN_IN, interaction: INTERACTION, entrances: [] },
      },
      cookie,
    );

  describe('303', () => {
    test('every parameter reaches the domain, unjudged', async () => {
      leadsToSignIn();
      const { status, headers } = await asking(Object.entries(parameters));
      expect([status, headers.location]).toEqual([303, `/auth/sign-in?interaction=${INTERACTION}`]);
      expect(server.asked).toEqual([{ method, request: { browser, ...toMessage(parameters, []) } }]);
    });

    test('a browser without a session gets its cookie', async () => {
      const value = 'bmV3dmFsdWVuZXd2YWx1ZW5ld3ZhbHVlbmV3dmFsdWU';
      leadsToSignIn({ change: { $case: 'setValue', value } });
      const { headers } = await asking([], {});
      expect(headers['set-cookie']).toEqual([
        `__Host-integration_session=${value}; Path=/; HttpOnly; SameSite=Lax; Secure`,
      ]);
    });

    test('straight back to the application, whatever its address', async () => {
      const location = 'com.example.app:/callback?error=login_required&iss=https%3A%2F%2Fsign-on.example.com';
      leadsTo({ $case: 'redirect', value: { location } });
      expect((await asking([])).headers.location).toBe(location);
    });

    test.each(Object.keys(parameters))('%s twice is told as such, with the first value', async (name) => {
      leadsToSignIn();
      await asking([
        [name, 'first'],
        [name, 'second'],
      ]);
      expect(server.asked[0]?.request).toEqual({ browser, ...toMessage({ [name]: 'first' }, [name]) });
    });

    test('an empty parameter is as good as none', async () => {
      leadsToSignIn();
      await asking(Object.keys(parameters).map((name) => [name, '']));
      expect(server.asked[0]?.request).toEqual({ browser, ...toMessage({}, []) });
    });

    test('unknown parameters are ignored, repeated ones too, whatever their names', async () => {
      leadsToSignIn();
      const names = ['__proto__', 'constructor', 'constructor', 'Client_Id', 'client_id[]', 'responseType'];
      await asking(names.map((name) => [name, 'x']));
      expect(server.asked[0]?.request).toEqual({ browser, ...toMessage({}, []) });
    });

    test('a NUL is the business of the domain, which can tell the application', async () => {
      leadsToSignIn();
      await asking([['state', 'a\0b']]);
      expect(server.asked[0]?.request).toEqual({ browser, ...toMessage({ state: 'a\0b' }, []) });
    });

    test('two cookies of the name count as none: one of them was planted', async () => {
      leadsToSignIn();
      await asking([], { cookie: `${COOKIE}; ${COOKIE.replace('Zm9', 'AAA')}` });
      expect(server.asked[0]?.request.browser).toEqual({ ...browser, sessionHash: undefined });
    });
  });

  describe('400', () => {
    test('what cannot be trusted with a redirect is the error page, with a word for developers', async () => {
      const developerMessage = 'redirect_uri is <wrong>';
      leadsTo({
        $case: 'errorPage',
        value: { kind: ErrorPageKind.REQUEST, message: 'No.', developerMessage },
      });
      const answer = await asking([]);
      expectErrorPage(answer, 400, 'please tell the operator of the application');
      expect(answer.body).toContain('<dd>redirect_uri is &lt;wrong&gt;</dd>');
      expect(answer.headers.location).toBeUndefined();
    });

    test.each(['state=%', 'state=%zz', '%E0%A4%A=1', 'state=%ff', 'state=%ED%A0%80', 'state=%C0%80'])(
      'malformed parameters prove nothing, and give the error page: %s',
      async (broken) => {
        leadsToSignIn();
        const answer =
          verb === 'GET'
            ? await server.ask(operationId, `${path}?${broken}`)
            : await server.ask(operationId, path, { ...formPost({}), body: broken });
        expectErrorPage(answer, 400, 'could not be read');
        expect(server.asked).toEqual([]);
      },
    );
  });

  test('500: a target that no header can carry causes no redirect', async () => {
    for (const location of ['', 'https://app.example.com/\r\nset-cookie: a=b', 'https://app.example.com/ü']) {
      leadsTo({ $case: 'redirect', value: { location } });
      expectErrorPage(await asking([]), 500, 'We could not complete this.');
    }
  });

  const question = verb === 'GET' ? {} : formPost({ state: 's' });
  const operation = { operationId, path, method, question };
  if (statuses.includes(200)) {
    testFormPost(operation, () => server);
  }
  if (verb === 'POST') {
    test('the page after a fault does not take the address of a form with a query for that of a page', async () => {
      refusing(server, method, new ServiceError(ErrorCode.INTERNAL_ERROR, 'No.'));
      const answer = await server.ask(operationId, `${path}?x=1`, formPost(parameters, { cookie: COOKIE }));
      expectErrorPage(answer, 500, 'We could not complete this.');
      expect(answer.body).not.toContain('id="continue"');
    });
  }

  testPageRefusals(operation, () => server);
  testPageFaults(operation, () => server);
  testStatuses(operationId, statuses);
}
