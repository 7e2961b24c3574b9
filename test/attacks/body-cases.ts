import type { Question } from '../support/http-exchange.js';
import { redemptionOf } from './attacked-service.js';
import { changed, changing, form, refused, type TokenRequestCase } from './token-request.js';
import { encoded, FORM } from './user-agent.js';

const JSON_TYPE = 'application/json';

export function json(text: string | Buffer): Question {
  return { headers: { 'content-type': JSON_TYPE }, body: text };
}

const REPEATABLE = [
  'grant_type',
  'code',
  'redirect_uri',
  'client_id',
  'client_secret',
  'code_verifier',
] as const;

/** What is asked cannot be told, or is not offered. */
export const BODY_CASES: readonly TokenRequestCase[] = [
  ...REPEATABLE.map((name) =>
    refused(`${name} twice in a form`, (fresh) => {
      const fields = changed(fresh, {});
      return form(encoded([...fields, ...fields.filter(([field]) => field === name)]));
    }),
  ),
  ...REPEATABLE.map((name) =>
    refused(`${name} twice in JSON`, (fresh) => {
      const members = JSON.stringify(redemptionOf(fresh)).slice(1);
      return json(`{"${name}":"x",${members}`);
    }),
  ),
  ...[['a'], { a: 1 }, 1, true].map((value) =>
    refused(`a code that is ${JSON.stringify(value)}`, (fresh) =>
      json(JSON.stringify({ ...redemptionOf(fresh), code: value })),
    ),
  ),
  refused('a member twice, once in escapes', (fresh) =>
    json(`{"c\\u006fde":"x",${JSON.stringify(redemptionOf(fresh)).slice(1)}`),
  ),
  refused('everything in the prototype of JSON', (fresh) =>
    json(`{"__proto__":${JSON.stringify(redemptionOf(fresh))}}`),
  ),
  refused('everything in the prototype of a form', (fresh) =>
    form(encoded(changed(fresh, {}).map(([name, value]): [string, string] => [`__proto__[${name}]`, value]))),
  ),
  refused('JSON that is a list', (fresh) => json(JSON.stringify([redemptionOf(fresh)]))),
  refused('JSON that is null', () => json('null')),
  refused('JSON with something behind it', (fresh) => json(`${JSON.stringify(redemptionOf(fresh))}{}`)),
  refused('JSON nested beyond all measure', (fresh) =>
    json(`{"x":${'['.repeat(20_000)}${']'.repeat(20_000)},${JSON.stringify(redemptionOf(fresh)).slice(1)}`),
  ),
  refused('JSON that is no UTF-8', () => json(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))),
  refused('JSON with a byte order mark', (fresh) => json(`\ufeff${JSON.stringify(redemptionOf(fresh))}`)),
  refused('a form that is no UTF-8', (fresh) =>
    form(Buffer.concat([Buffer.from(encoded(redemptionOf(fresh))), Buffer.from([0xff])])),
  ),
  refused('a form with half an escape', (fresh) => form(`${encoded(redemptionOf(fresh))}&x=%`)),
  refused('a form with escapes that are invalid UTF-8', (fresh) =>
    form(`${encoded(redemptionOf(fresh))}&x=%c0%af`),
  ),
  refused('a form with semicolons between its fields', (fresh) =>
    form(encoded(redemptionOf(fresh)).replaceAll('&', ';')),
  ),
  refused('no body', () => ({ method: 'POST' })),
  refused('a NUL in the verifier', changing({ code_verifier: `${'a'.repeat(43)}\0` })),
  refused('a verifier that is a letter short', changing({ code_verifier: 'a'.repeat(42) })),
  refused('a verifier that is a letter long', changing({ code_verifier: 'a'.repeat(129) })),
  refused('a verifier with a letter of another alphabet', changing({ code_verifier: `${'a'.repeat(43)}+` })),
  refused('no grant type', changing({ grant_type: undefined })),
  refused('no code', changing({ code: undefined })),
  refused('an empty code', changing({ code: '' })),
  refused('no redirect URI', changing({ redirect_uri: undefined })),
  ...[
    'password',
    'client_credentials',
    'implicit',
    'AUTHORIZATION_CODE',
    'constructor',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'urn:ietf:params:oauth:grant-type:token-exchange',
  ].map(
    (grant): TokenRequestCase => ({
      title: `the grant type ${grant}`,
      ask: changing({ grant_type: grant, username: 'x', password: 'x' }),
      status: 400,
      error: 'unsupported_grant_type',
    }),
  ),
  ...['code', 'client_secret', 'code_verifier', 'refresh_token', 'access_token'].map((name) =>
    refused(`${name} in the address, where logs keep it`, (fresh) => ({
      ...form(encoded(redemptionOf(fresh))),
      query: `?${name}=x`,
    })),
  ),
  ...[
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/xml',
    `${JSON_TYPE}; charset=utf-16`,
    `${FORM}; charset=utf-16`,
    `${FORM}, ${JSON_TYPE}`,
    'application/json-patch+json',
    '',
  ].map(
    (mediaType): TokenRequestCase => ({
      title: `a body said to be ${JSON.stringify(mediaType)}`,
      ask: (fresh) => ({
        headers: { 'content-type': mediaType || undefined },
        body: encoded(redemptionOf(fresh)),
      }),
      status: 415,
      error: 'invalid_request',
    }),
  ),
  {
    title: 'a body that is compressed, as bombs are',
    ask: (fresh) => form(encoded(redemptionOf(fresh)), { 'content-encoding': 'gzip' }),
    status: 415,
    error: 'invalid_request',
  },
  {
    title: 'a body that is too large',
    ask: (fresh) => form(`${encoded(redemptionOf(fresh))}&x=${'x'.repeat(70_000)}`),
    status: 413,
    error: 'invalid_request',
  },
  {
    title: 'a body that is too large and does not say how large',
    ask: (fresh) =>
      form(`${encoded(redemptionOf(fresh))}&x=${'x'.repeat(70_000)}`, { 'transfer-encoding': 'chunked' }),
    status: 413,
    error: 'invalid_request',
  },
];
