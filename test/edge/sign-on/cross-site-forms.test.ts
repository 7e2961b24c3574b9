import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { InteractionPage } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import type { Question } from '../../support/http-exchange.js';
import { COOKIE } from './pages/page-suite.js';
import { expectErrorPage } from './refusals.js';
import { FORM, type SignOnServer, startSignOn } from './server.js';

const ELSEWHERE = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example.com' };

let server: SignOnServer;

beforeAll(async () => {
  server = await startSignOn();
});

afterAll(() => server.stop());

describe.each([
  ['authorizePost', '/auth/authorize', 'authorize'],
  ['logoutPost', '/auth/logout', 'logout'],
] as const)(
  '%s: a form from another site, which the cookie does not come with',
  (operationId, path, method) => {
    const post = (body: string, headers: Question['headers']) => {
      const value = { page: InteractionPage.SIGNED_OUT, interaction: '', entrances: [] };
      server.program({ [method]: async () => ({ step: { result: { $case: 'nextPage', value } } }) });
      const sent = { 'content-type': FORM, ...headers };
      return server.ask(operationId, path, { method: 'POST', headers: sent, body });
    };

    test('is asked for again by address, so that the session is neither missed nor replaced', async () => {
      const { status, headers } = await post('state=a+b%26c&state=%C3%BC&unknown=x', ELSEWHERE);
      expect([status, headers.location]).toEqual([303, `${path}?state=a+b%26c&state=%C3%BC`]);
      expect([server.asked, headers['set-cookie']]).toEqual([[], undefined]);
    });

    test.each<[string, Record<string, string>]>([
      ['with the cookie', { ...ELSEWHERE, cookie: COOKIE }],
      ['from a program', {}],
      ['from our own pages', { 'sec-fetch-site': 'same-origin' }],
    ])('%s it is answered at once', async (_, headers) => {
      await post('state=s', headers);
      expect(server.asked).toHaveLength(1);
    });

    test('goes no further when it is too long for an address', async () => {
      const answer = await post(`state=${'x'.repeat(8_000)}`, ELSEWHERE);
      expectErrorPage(answer, 400, 'The request of the application is too long.');
      expect([server.asked, answer.headers.location]).toEqual([[], undefined]);
      const onward = /id="continue" href="([^"]*)"/.exec(answer.body)?.[1];
      expect(onward).toBe(method === 'logout' ? '/auth/logout' : undefined);
    });
  },
);
