import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ClientAuthenticationMethod } from '../../../../generated/proto/integration/sign_on/v1/tokens.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { newClientSecret } from '../../../../src/identifiers/client-secret.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { expectOAuthError, refusing, testStatuses } from '../refusals.js';
import { FORM, formPost, jsonPost, type MethodName, type SignOnServer, startSignOn } from '../server.js';
import { testBodies } from './body-suite.js';

export const CLIENT_ID = 'app_GRiNdE2svJ6Uj1h5qWVsYI';
export const SECRET = newClientSecret('live');
const OTHER_ID = 'app_AAAAAAAAAAAAAAAAAAAAAA';

export interface ClientCase {
  operationId: string;
  statuses: readonly number[];
  path: string;
  method: MethodName;
  /** Fields that are in order, without those of the application. */
  fields: Record<string, string>;
  /** The domain's answer when all is well. */
  answer: object;
  /** The errors that the domain may refuse with here, all 400 unless `unproven` says otherwise. */
  refusals: readonly ErrorCode[];
  /** The status for a client that sent a wrong secret in the body. */
  unproven: 400 | 401;
  /** An error of another endpoint, which has no place here. */
  foreign: ErrorCode;
}

export const basic = (username: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

/** What the endpoints that applications call themselves do alike. */
export function describeClient(one: ClientCase): void {
  const { operationId, statuses, path, method, fields, answer, refusals, unproven, foreign } = one;
  const own = { ...fields, client_id: CLIENT_ID, client_secret: SECRET };
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const ask = (question = formPost(own), query = '') => server.ask(operationId, path + query, question);
  const answers = () => server.program({ [method]: async () => answer });
  const askedAs = () => server.asked[0]?.request.client;
  const refused = (error: Error, question = formPost(own)) => {
    refusing(server, method, error);
    return ask(question);
  };

  describe('200', () => {
    const { BODY, BASIC, NONE } = ClientAuthenticationMethod;
    const hash = hashSecret(SECRET);
    const ways: [string, () => ReturnType<typeof formPost>, object][] = [
      ['its secret in a form', () => formPost(own), { method: BODY, clientSecretHash: hash }],
      [
        'its secret in a form that names another charset',
        () => formPost(own, { 'content-type': `${FORM}; charset=ISO-8859-1` }),
        { method: BODY, clientSecretHash: hash },
      ],
      ['its secret in JSON', () => jsonPost(own), { method: BODY, clientSecretHash: hash }],
      [
        'HTTP Basic',
        () => formPost(fields, basic(CLIENT_ID, SECRET)),
        { method: BASIC, clientSecretHash: hash },
      ],
      [
        'HTTP Basic and its id beside it',
        () => jsonPost({ ...fields, client_id: CLIENT_ID }, basic(CLIENT_ID, SECRET)),
        { method: BASIC, clientSecretHash: hash },
      ],
      [
        'HTTP Basic with form-encoded halves',
        () => formPost(fields, basic(encodeURIComponent(CLIENT_ID), 'a%20b+c%3A%25%C3%BC')),
        { method: BASIC, clientSecretHash: hashSecret('a b c:%ü') },
      ],
      ['its id alone', () => formPost({ ...fields, client_id: CLIENT_ID }), { method: NONE }],
      [
        'its id and an empty secret, which is none',
        () => formPost({ ...own, client_secret: '' }),
        { method: NONE },
      ],
      [
        'its id and null for a secret, which is none',
        () => jsonPost({ ...own, client_secret: null }),
        { method: NONE },
      ],
      [
        'HTTP Basic and null for the secret in the body',
        () => jsonPost({ ...own, client_secret: null }, basic(CLIENT_ID, SECRET)),
        { method: BASIC, clientSecretHash: hash },
      ],
      [
        'HTTP Basic with an empty password, which is no secret',
        () => formPost(fields, basic(CLIENT_ID, '')),
        { method: NONE },
      ],
      [
        'HTTP Basic with an empty password and its id beside it',
        () => formPost({ ...fields, client_id: CLIENT_ID }, basic(CLIENT_ID, '')),
        { method: NONE },
      ],
    ];
    test.each(ways)(
      'an application presents itself by %s, and only the hash continues',
      async (_, question, client) => {
        answers();
        expect((await ask(question())).status).toBe(200);
        const usual = { clientId: CLIENT_ID, clientSecretHash: undefined, remoteAddress: '127.0.0.1' };
        expect(server.asked.map((one) => one.method)).toEqual([method]);
        expect(askedAs()).toEqual({ ...usual, ...client });
        expect(server.text()).not.toContain(SECRET.slice(10));
      },
    );

    test('an empty field counts as left out, and an unknown one is passed over', async () => {
      answers();
      await ask(formPost({ ...own, ignored: ['1', '2'], resource: '' }));
      expect(askedAs()).toMatchObject({ method: BODY });
      await ask(jsonPost({ ...own, ignored: { deep: [null] }, constructor: 1, resource: null }));
      expect(server.asked).toHaveLength(2);
    });
  });

  describe('400', () => {
    test.each(refusals.filter((code) => unproven === 400 || code !== ErrorCode.INVALID_CLIENT))(
      'the refusal %s is told in the words of the domain, as OAuth writes them',
      async (code) => {
        const answer = await refused(new ServiceError(code, 'No: "ü" \\ \n.'));
        expectOAuthError(answer, 400, code.replace('ERROR_CODE_', '').toLowerCase(), /^No: '\?' \? \?\.$/);
        expect(answer.headers['www-authenticate']).toBeUndefined();
      },
    );

    test.each<[string, object, Record<string, string>, RegExp]>([
      ['secrets in two places', own, basic(CLIENT_ID, SECRET), /Send the secret once/],
      ['two ids', { ...fields, client_id: OTHER_ID }, basic(CLIENT_ID, SECRET), /is another than/],
      [
        'two ids without a secret',
        { ...fields, client_id: OTHER_ID },
        basic(CLIENT_ID, ''),
        /is another than/,
      ],
      ['a secret beside an empty password', own, basic(CLIENT_ID, ''), /Send the secret once/],
    ])('%s are refused before the domain is asked', async (_, sent, headers, said) => {
      answers();
      for (const post of [formPost, jsonPost]) {
        expectOAuthError(
          await ask(post(sent as Record<string, string>, headers)),
          400,
          'invalid_request',
          said,
        );
      }
      expect(server.asked).toEqual([]);
    });

    test.each(Object.keys(own))(
      'a second %s, one of another type and one with a NUL are refused',
      async (name) => {
        answers();
        const value = own[name as keyof typeof own];
        const spoiled = [
          formPost({ ...own, [name]: [value, value] }),
          formPost({ ...own, [name]: `${value}\0` }),
          ...[7, true, [value], { value }].map((wrong) => jsonPost({ ...own, [name]: wrong })),
        ];
        for (const question of spoiled) {
          expectOAuthError(await ask(question), 400, 'invalid_request', `The field ${name}`);
        }
        expect(server.asked).toEqual([]);
      },
    );

    test.each(['client_id', ...Object.keys(fields)].filter((name) => name !== 'token_type_hint'))(
      'a request without %s is refused before the domain is asked',
      async (name) => {
        answers();
        for (const empty of [
          { ...own, [name]: '' },
          { ...own, [name]: undefined },
          { ...own, [name]: null },
        ]) {
          const missing = jsonPost(empty);
          expectOAuthError(await ask(missing), 400, 'invalid_request', `The field ${name} is missing.`);
        }
        expect(server.asked).toEqual([]);
      },
    );

    test.each(['client_secret', 'code', 'code_verifier', 'refresh_token', 'access_token', 'token'])(
      'a %s in the address is refused, where logs would keep it',
      async (name) => {
        answers();
        expectOAuthError(await ask(formPost(own), `?${name}=x`), 400, 'invalid_request', 'the address');
        expect(server.asked).toEqual([]);
      },
    );
  });

  describe(`${unproven} for a secret in the body`, () => {
    test('one of the other environment is told so', async () => {
      answers();
      const sent = formPost({ ...own, client_secret: newClientSecret('demo') });
      expectOAuthError(await ask(sent), unproven, 'invalid_client', 'belongs to the demo environment');
      expect(server.asked).toEqual([]);
    });

    test('a wrong one gets a challenge only with 401', async () => {
      const answer = await refused(new ServiceError(ErrorCode.INVALID_CLIENT, 'Wrong.'));
      expectOAuthError(answer, unproven, 'invalid_client', 'Wrong.');
      const challenge = unproven === 401 ? 'Basic realm="sign-on", charset="UTF-8"' : undefined;
      expect(answer.headers['www-authenticate']).toBe(challenge);
    });
  });

  describe('401', () => {
    test('who used the header is reported the header', async () => {
      const wrong = new ServiceError(ErrorCode.INVALID_CLIENT, 'Wrong.');
      const answer = await refused(wrong, formPost(fields, basic(CLIENT_ID, SECRET)));
      expectOAuthError(answer, 401, 'invalid_client', 'Wrong.');
      expect(answer.headers['www-authenticate']).toBe('Basic realm="sign-on", charset="UTF-8"');
    });

    test.each([
      ['another scheme', 'Bearer abc'],
      ['no scheme', ''],
      ['nothing behind the scheme', 'Basic'],
      ['what is no base64', 'Basic ***'],
      ['no id before the colon', basic('', SECRET).authorization],
      ['no colon', `Basic ${Buffer.from('abc').toString('base64')}`],
      ['a secret of the other environment', basic(CLIENT_ID, newClientSecret('demo')).authorization],
    ])('a header with %s is refused before the domain is asked', async (_, authorization) => {
      answers();
      expectOAuthError(await ask(formPost(fields, { authorization })), 401, 'invalid_client');
      expect(server.asked).toEqual([]);
    });

    test('so are two headers', async () => {
      answers();
      const { authorization } = basic(CLIENT_ID, SECRET);
      const twice = { authorization: [authorization, authorization] };
      expectOAuthError(await ask(formPost(fields, twice)), 401, 'invalid_client');
      expect(server.asked).toEqual([]);
    });
  });

  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'])(
    '405: %s gets the methods of the path',
    async (verb) => {
      const answer = await server.ask(operationId, path, { method: verb });
      expect([answer.status, answer.headers.allow?.split(', ')[0]]).toEqual([405, 'POST']);
      if (verb !== 'HEAD') {
        expectOAuthError(answer, 405, 'invalid_request');
      }
    },
  );

  testBodies({ operationId, path, question: formPost(own), takes: 'both' }, () => server);

  test('429: who guessed too often gets the time to wait', async () => {
    const limited = new ServiceError(ErrorCode.RATE_LIMITED, 'Too many requests.', { retryAfterSeconds: 41 });
    const answer = await refused(limited);
    expectOAuthError(answer, 429, 'temporarily_unavailable', 'Too many requests.');
    expect(answer.headers['retry-after']).toBe('41');
  });

  test.each<[string, Error]>([
    ['a fault of the domain', new Error('canary')],
    ['an error of another endpoint', new ServiceError(foreign, 'canary')],
    ['a refusal to the edge itself', new ServiceError(ErrorCode.SERVICE_TOKEN_INVALID, 'canary')],
  ])('500: %s says nothing', async (_, error) => {
    const answer = await refused(error);
    expectOAuthError(answer, 500, 'server_error', 'The request could not be completed.');
    expect(answer.body).not.toContain('canary');
  });

  test('503: the waiting time of a busy domain is passed on', async () => {
    const answer = await refused(new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.', { retryAfterSeconds: 3 }));
    expectOAuthError(answer, 503, 'temporarily_unavailable', 'Busy.');
    expect(answer.headers['retry-after']).toBe('3');
  });

  testStatuses(operationId, statuses);
}
