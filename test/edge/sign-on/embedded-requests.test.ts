import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { InteractionPage } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import {
  type AuthorizationParameters,
  faultOfParameter,
} from '../../../src/domain/sign-on/authorization/authorization-parameters.js';
import { parsePrompts } from '../../../src/domain/sign-on/authorization/request-parsers.js';
import { expectErrorPage } from './refusals.js';
import { FORM, type SignOnServer, startSignOn } from './server.js';

const VALUE = { page: InteractionPage.SIGN_IN, interaction: 'i', entrances: [] };

let server: SignOnServer;

beforeAll(async () => {
  server = await startSignOn();
});

afterAll(() => server.stop());

describe('an authorization request that a page of another site makes on its own', () => {
  const ask = (query: string, headers: Record<string, string>, verb = 'GET') => {
    server.program({ authorize: async () => ({ step: { result: { $case: 'nextPage', value: VALUE } } }) });
    return verb === 'GET'
      ? server.ask('authorize', `/auth/authorize?${query}`, { headers })
      : server.ask('authorizePost', '/auth/authorize', {
          ...{ method: verb, headers: { 'content-type': FORM, ...headers }, body: query },
        });
  };

  test.each([
    ['a picture', 'state=s', { 'sec-fetch-dest': 'image' }],
    ['a script', 'state=s', { 'sec-fetch-dest': 'script' }],
    ['a call', 'state=s', { 'sec-fetch-dest': 'empty' }],
    ['a call with prompt=none', 'prompt=none', { 'sec-fetch-dest': 'empty' }],
    ['an object with prompt=none', 'prompt=none', { 'sec-fetch-dest': 'object' }],
    ['a page that is loaded in advance', 's=s', { 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch' }],
  ])('as %s does not reach the domain', async (_, query, headers) => {
    for (const verb of ['GET', 'POST']) {
      expectErrorPage(await ask(query, headers, verb), 400, 'Go back to the application and try again.');
      expect(server.asked).toEqual([]);
    }
  });

  test.each(['state=s', 'prompt=login'])('in a frame, with %s, does not reach the domain', async (query) => {
    const answer = await ask(query, { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' });
    expectErrorPage(answer, 400, 'Go back to the application and try again.');
    expect(server.asked).toEqual([]);
  });

  test.each([
    ['prompt=none', true],
    ['prompt=none&prompt=', false],
    ['prompt=&prompt=none', false],
    ['prompt=none&prompt=none', false],
    ['prompt=none&prompt=login', false],
    ['prompt=none%20login', false],
    ['prompt=none%20', false],
    ['prompt=NONE', false],
    ['prompt=', false],
    ['state=none', false],
  ])('reaches the domain from a frame only where the domain shows no page: %s', async (query, isSilent) => {
    await ask(query, { 'sec-fetch-dest': 'document' });
    const parameters = server.asked[0]?.request.parameters as AuthorizationParameters;
    const isRefused = faultOfParameter(parameters, 'prompt') !== undefined;
    expect(!isRefused && parsePrompts(parameters.prompt ?? '')?.silent === true).toBe(isSilent);
    await ask(query, { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' });
    expect(server.asked).toHaveLength(isSilent ? 1 : 0);
  });

  test.each([
    ['prompt=none', undefined],
    ['prompt=none&prompt=login', 'DENY'],
    ['prompt=login', 'DENY'],
  ])(
    'may be answered in a frame, by the form of an answer, only with prompt=none: %s',
    async (query, framing) => {
      const value = {
        action: 'https://app.example.com/',
        fields: [],
        applicationName: '',
        formActionSource: '',
      };
      for (const [operationId, question] of [
        ['authorize', { path: `/auth/authorize?${query}` }],
        [
          'authorizePost',
          { path: '/auth/authorize', method: 'POST', headers: { 'content-type': FORM }, body: query },
        ],
      ] as const) {
        server.program({ authorize: async () => ({ step: { result: { $case: 'formPost', value } } }) });
        const { path, ...more } = question;
        const { status, headers } = await server.ask(operationId, path, more);
        expect([status, headers['x-frame-options']]).toEqual([200, framing]);
        const policy = String(headers['content-security-policy']);
        expect(policy.includes("frame-ancestors 'none'")).toBe(framing === 'DENY');
      }
    },
  );

  test.each<[string, string, Record<string, string>]>([
    ['what the browser itself goes to', 'state=s', { 'sec-fetch-dest': 'document' }],
    [
      'a silent renewal in a frame',
      'prompt=none',
      { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' },
    ],
    [
      'a frame of the same site, to which the cookie comes',
      'state=s',
      { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-site' },
    ],
    ['a silent renewal in a frame of a frameset', 'prompt=none', { 'sec-fetch-dest': 'frame' }],
    ['what says nothing of it, such as an old browser', 'state=s', {}],
  ])('%s reaches the domain', async (_, query, headers) => {
    expect((await ask(query, headers)).status).toBe(303);
    expect(server.asked).toHaveLength(1);
  });
});
