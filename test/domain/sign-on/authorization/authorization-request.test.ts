import { describe, expect, test } from '@jest/globals';
import type { AccountId, ApplicationId } from '../../../../generated/ids.js';
import type { Application } from '../../../../src/domain/operator/rows/applications.js';
import type { Refusal } from '../../../../src/domain/sign-on/authorization/authorization-answer.js';
import type { AuthorizationParameters } from '../../../../src/domain/sign-on/authorization/authorization-parameters.js';
import {
  type AcceptedRequest,
  judgeRequest,
  proveTarget,
} from '../../../../src/domain/sign-on/authorization/authorization-request.js';
import type { AuthorizationRequest } from '../../../../src/domain/sign-on/interaction/interactions.js';
import type { TokenKeys } from '../../../../src/domain/sign-on/keys/signing.js';

const CALLBACK = 'https://app.example.com/callback';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const OTHER_APPLICATION = 'app_other' as ApplicationId;

const application = {
  id: 'app_1',
  name: 'Brightledger Portal',
  type: 'confidential',
  enabled: true,
  allowedScopes: ['openid', 'profile'],
  allowedGrantTypes: ['authorization_code'],
  requirePkce: false,
  redirectUris: [{ uri: CALLBACK, instanceId: 'ins_1' }],
} as Partial<Application> as Application;

const RIGHT: AuthorizationParameters = {
  responseType: 'code',
  clientId: 'app_1',
  redirectUri: CALLBACK,
  scope: 'openid',
  state: 'state-1',
  repeatedNames: [],
};

/** The request in the two parts in which it is judged. */
async function judge(parameters: Partial<AuthorizationParameters>, as: Partial<Application> = {}) {
  const proven = await proveTarget(async (id) => (id === 'app_1' ? { ...application, ...as } : undefined), {
    ...RIGHT,
    ...parameters,
  });
  if (typeof proven === 'string') {
    return { kind: 'unproven' as const, developerMessage: proven };
  }
  const keys: Pick<TokenKeys, 'read'> = {
    read: async (hint) => {
      const [applicationId, accountId] = hint.split(' ');
      return accountId === undefined
        ? undefined
        : {
            applicationId: applicationId as ApplicationId,
            accountId: accountId as AccountId,
            issuedAtSeconds: 1,
          };
    },
  };
  const judged = await judgeRequest(keys, proven);
  return 'error' in judged
    ? { kind: 'refused' as const, asker: proven.asker, refusal: judged }
    : { kind: 'accepted' as const, asker: proven.asker, ...judged };
}

describe('nothing is redirected and a page says', () => {
  test.each([
    ['that client_id is missing', { clientId: undefined }, /client_id is missing/],
    ['that client_id is empty', { clientId: '' }, /client_id is missing/],
    ['that client_id is unknown', { clientId: 'app_2' }, /client_id is not/],
    ['that client_id is of the prototype', { clientId: '__proto__' }, /client_id is not/],
    ['that client_id has a NUL', { clientId: 'app_1\u0000' }, /client_id is longer|cannot be kept/],
    ['that client_id is much too long', { clientId: 'a'.repeat(65) }, /client_id is longer/],
    ['that client_id came twice', { repeatedNames: ['client_id'] }, /client_id is sent more than once/],
    ['that redirect_uri is missing', { redirectUri: undefined }, /redirect_uri is missing/],
    ['that redirect_uri is another', { redirectUri: `${CALLBACK}/` }, /redirect_uri is not registered/],
    ['that redirect_uri has a NUL', { redirectUri: `${CALLBACK}\u0000` }, /redirect_uri is longer/],
    ['that redirect_uri is too long', { redirectUri: `${CALLBACK}?${'a'.repeat(2_048)}` }, /is longer/],
    ['that redirect_uri came twice', { repeatedNames: ['redirect_uri'] }, /redirect_uri is sent more/],
  ])('%s', async (_, parameters, words) => {
    const judged = await judge({ ...parameters, request: 'a.b.c', responseType: 'token' });
    expect(judged).toMatchObject({ kind: 'unproven', developerMessage: expect.stringMatching(words) });
  });
});

describe('an unknown scope', () => {
  test.each([
    ['openid opnid', 'This server does not know the scope opnid.'],
    ['<b> payroll.read:all', 'This server does not know the scope payroll.read:all.'],
    // Applications show the description, and anyone can send the request.
    ['openid <script>', 'scope has one that this server does not know.'],
    ['openid https://evil.example', 'scope has one that this server does not know.'],
    [`openid ${'a'.repeat(41)}`, 'scope has one that this server does not know.'],
  ])('is named if it could be one: %s', async (scope, description) => {
    expect(await judge({ scope })).toMatchObject({ refusal: { error: 'invalid_scope', description } });
  });
});

describe('the application is told', () => {
  const signed = (accountId: string) => `app_1 ${accountId}`;

  test.each<[string, string, Partial<AuthorizationParameters>, Partial<Application>?]>([
    ['that it is disabled', 'unauthorized_client', { responseType: 'x' }, { enabled: false }],
    ['that it may not use codes', 'unauthorized_client', {}, { allowedGrantTypes: ['refresh_token'] }],
    ['that request objects are not taken', 'request_not_supported', { request: 'a.b.c' }],
    ['that request URIs are not taken', 'request_uri_not_supported', { requestUri: 'https://a.example/r' }],
    ['that response_type is missing', 'invalid_request', { responseType: undefined }],
    ['that response_type came twice', 'invalid_request', { repeatedNames: ['response_type'] }],
    ['that the implicit flow is not there', 'unsupported_response_type', { responseType: 'token' }],
    ['that the hybrid flow is not there', 'unsupported_response_type', { responseType: 'code id_token' }],
    ['that no other response type is', 'unsupported_response_type', { responseType: 'CODE' }],
    ['that answers come in no fragment', 'invalid_request', { responseMode: 'fragment' }],
    ['that answers come in no JWT', 'invalid_request', { responseMode: 'form_post.jwt' }],
    ['that a mode has a NUL', 'invalid_request', { responseMode: 'form_post\u0000' }],
    [
      'that a mode came twice',
      'invalid_request',
      { responseMode: 'form_post', repeatedNames: ['response_mode'] },
    ],
    ['that scope is missing', 'invalid_scope', { scope: undefined }],
    ['that scope is malformed', 'invalid_scope', { scope: 'openid  profile' }],
    ['that a scope is unknown', 'invalid_scope', { scope: 'openid offline_access' }],
    ['that a scope is not registered', 'invalid_scope', { scope: 'openid email' }],
    ['that scope came twice', 'invalid_request', { repeatedNames: ['scope'] }],
    ['that scope is too long', 'invalid_request', { scope: 'openid '.repeat(200) }],
    ['that a public application needs PKCE', 'invalid_request', {}, { type: 'public' }],
    ['that it is registered to need PKCE', 'invalid_request', {}, { requirePkce: true }],
    ['that a challenge needs its method', 'invalid_request', { codeChallenge: CHALLENGE }],
    ['that plain is refused', 'invalid_request', { codeChallenge: CHALLENGE, codeChallengeMethod: 'plain' }],
    ['that s256 is none', 'invalid_request', { codeChallenge: CHALLENGE, codeChallengeMethod: 's256' }],
    ['that a method needs its challenge', 'invalid_request', { codeChallengeMethod: 'S256' }],
    ['that the challenge is short', 'invalid_request', challenge(CHALLENGE.slice(1))],
    ['that the challenge is long', 'invalid_request', challenge(`${CHALLENGE}A`)],
    ['that the challenge is padded', 'invalid_request', challenge(`${CHALLENGE.slice(0, -1)}=`)],
    ['that the challenge is no base64url', 'invalid_request', challenge(CHALLENGE.replace('-', '+'))],
    ['that no verifier has this challenge', 'invalid_request', challenge(`${CHALLENGE.slice(0, -1)}N`)],
    ['that none stands alone', 'invalid_request', { prompt: 'none login' }],
    ['that a prompt is unknown', 'invalid_request', { prompt: 'create' }],
    ['that max_age is negative', 'invalid_request', { maxAge: '-1' }],
    ['that max_age is no number', 'invalid_request', { maxAge: 'soon' }],
    ['that claims are no JSON', 'invalid_request', { claims: '{' }],
    ['that claims are too long', 'invalid_request', { claims: `{"a":"${'a'.repeat(8_192)}"}` }],
    [
      'that acr cannot be had',
      'access_denied',
      { claims: '{"id_token":{"acr":{"essential":true,"values":["urn:example:token"]}}}' },
    ],
    [
      'that an unreadable hint names no person',
      'login_required',
      { idTokenHint: 'nonsense', prompt: 'none' },
    ],
    ['that the hint is of another', 'invalid_request', { idTokenHint: `${OTHER_APPLICATION} acc_1` }],
    [
      'that two people are expected',
      'invalid_request',
      { idTokenHint: signed('acc_1'), claims: '{"id_token":{"sub":{"value":"acc_2"}}}' },
    ],
    ['that nonce is too long', 'invalid_request', { nonce: 'n'.repeat(1_025) }],
    ['that nonce has a NUL', 'invalid_request', { nonce: 'n\u0000' }],
    ['that login_hint has a NUL', 'invalid_request', { loginHint: '\u0000' }],
    ['that ui_locales came twice', 'invalid_request', { repeatedNames: ['ui_locales'] }],
  ])('%s: %s', async (_, error, parameters, as = {}) => {
    const judged = await judge(parameters, as);
    const asker = { redirectUri: CALLBACK, state: 'state-1', responseMode: 'query' };
    expect(judged).toMatchObject({ kind: 'refused', asker });
    const { refusal } = judged as { refusal: Refusal };
    expect(refusal.error).toBe(error);
    // RFC 6749, section 4.1.2.1: printable ASCII without quotation mark and backslash.
    expect(refusal.description).toMatch(/^[A-Za-z][ !#-[\]-~]*\.$/);
  });

  test.each<[string, Partial<AuthorizationParameters>]>([
    ['came twice', { repeatedNames: ['state'] }],
    ['has a NUL', { state: 'a\u0000' }],
    ['is half a character', { state: '\ud800' }],
    ['is too long', { state: 's'.repeat(4_097) }],
  ])('nothing of a state that %s', async (_, parameters) => {
    expect(await judge(parameters)).toMatchObject({
      kind: 'refused',
      asker: { state: null },
      refusal: { error: 'invalid_request' },
    });
  });

  test.each<[string, Partial<AuthorizationParameters>]>([
    ['a scope is unknown', { scope: 'openid unknown' }],
    ['there is a request object', { request: 'a.b.c' }],
    ['the state came twice', { repeatedNames: ['state'] }],
    ['the response type is another', { responseType: 'token' }],
  ])('with a form that it wants, also when %s', async (_, parameters) => {
    const judged = await judge({ responseMode: 'form_post', ...parameters });
    expect(judged).toMatchObject({ kind: 'refused', asker: { responseMode: 'form_post' } });
  });

  test.each(['a\nb', 'a\rb', '\r\n'])(
    'in the query of the state %j, which no form returns unchanged',
    async (state) => {
      expect(await judge({ responseMode: 'form_post', state })).toMatchObject({
        kind: 'refused',
        asker: { responseMode: 'query', state },
        refusal: { error: 'invalid_request', description: expect.stringContaining('line breaks') },
      });
    },
  );

  test('by its address where an app cannot take a form', async () => {
    const redirectUri = 'com.example.app:/callback';
    const redirectUris = [{ uri: redirectUri, instanceId: 'ins_1' }] as Application['redirectUris'];
    expect(await judge({ redirectUri, responseMode: 'form_post' }, { redirectUris })).toMatchObject({
      kind: 'refused',
      asker: { redirectUri, responseMode: 'query' },
      refusal: { error: 'invalid_request' },
    });
  });
});

describe('a request is accepted', () => {
  test('with everything that it asks for', async () => {
    const judged = await judge({
      scope: 'profile openid',
      nonce: 'n-1',
      ...challenge(CHALLENGE),
      responseMode: 'query',
      prompt: 'consent login',
      maxAge: '0',
      loginHint: 'ada@example.com',
      idTokenHint: 'app_1 acc_1',
      claims: '{"id_token":{"sub":{"value":"acc_1"}}}',
      display: 'wap',
      uiLocales: 'de-CH en',
      acrValues: 'urn:example:password',
    });
    expect(judged).toMatchObject({
      kind: 'accepted',
      silent: false,
      request: {
        kind: 'authorization',
        applicationId: 'app_1',
        instanceId: 'ins_1',
        redirectUri: CALLBACK,
        scopes: ['openid', 'profile'],
        state: 'state-1',
        responseMode: 'query',
        nonce: 'n-1',
        codeChallenge: CHALLENGE,
        prompts: ['consent', 'login'],
        maxAgeSeconds: 0,
        loginHint: 'ada@example.com',
        hintedAccountId: 'acc_1',
      },
    });
  });

  test('with its answer in a form', async () => {
    expect(await judge({ responseMode: 'form_post' })).toMatchObject({
      kind: 'accepted',
      request: { responseMode: 'form_post', query: expect.stringContaining('&response_mode=form_post') },
    });
  });

  test('without what may be left out, empty parameters among it', async () => {
    expect(await judge({ state: '', nonce: '', prompt: '', codeChallenge: '' })).toMatchObject({
      kind: 'accepted',
      silent: false,
      request: { state: null, nonce: null, codeChallenge: null },
    });
  });

  test.each([
    ['no claims', undefined, {}],
    ['claims', '{"userinfo":{"email":null},"id_token":{"auth_time":null}}', { auth_time: null }],
    ['claims of the same person', '{"id_token":{"sub":{"values":["acc_1"]}}}', {}],
  ])('with a hint and %s, of which it keeps whom it names and not the token', async (_, claims, kept) => {
    const accepted = await judge({ idTokenHint: 'app_1 acc_1', claims });
    const { query, hintedAccountId } = (accepted as { request: AuthorizationRequest }).request;
    expect(query).not.toContain('id_token_hint');
    expect(JSON.stringify(accepted)).not.toContain('app_1 acc_1');
    const again = new URLSearchParams(query).get('claims') as string;
    expect(JSON.parse(again)).toEqual({
      ...(claims && JSON.parse(claims)),
      id_token: { ...kept, sub: { value: hintedAccountId } },
    });
    expect(hintedAccountId).toBe('acc_1');
    expect(await judge({ claims: again })).toMatchObject({ kind: 'accepted', request: { hintedAccountId } });
  });

  test('with a hint that cannot be read, of which it keeps nothing', async () => {
    expect(JSON.stringify(await judge({ idTokenHint: 'nonsense' }))).not.toMatch(/nonsense|id_token_hint/);
  });

  test('with a hint that cannot be read, which is passed over', async () => {
    expect(await judge({ idTokenHint: 'nonsense' })).toMatchObject({
      kind: 'accepted',
      request: { hintedAccountId: null },
    });
  });

  test('and its query makes the same request again', async () => {
    const state = 'a b&c=d+é%';
    const judged = await judge({ state, prompt: 'none', claims: '{"id_token":{}}' });
    const { request } = judged as AcceptedRequest;
    expect(Object.fromEntries(new URLSearchParams(request.query))).toEqual({
      response_type: 'code',
      client_id: 'app_1',
      redirect_uri: CALLBACK,
      scope: 'openid',
      state,
      prompt: 'none',
      claims: '{"id_token":{}}',
    });
  });
});

function challenge(codeChallenge: string): Partial<AuthorizationParameters> {
  return { codeChallenge, codeChallengeMethod: 'S256' };
}
