import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newApiKey } from '../../src/identifiers/api-key.js';
import { newServiceToken } from '../../src/identifiers/service-token.js';
import { scrub } from '../../src/telemetry/log.js';
import { withinTime } from '../support/within-time.js';

const hex = '0123456789abcdef'.repeat(4);
const jwtHead = Buffer.from('{"alg":"ES256","typ":"at+jwt"}').toString('base64url');
const jwtBody = Buffer.from('{"sub":"acc_1","iss":"https://id.example.com"}').toString('base64url');
const jwt = `${jwtHead}.${jwtBody}.c2lnbmF0dXJl-_c2lnbmF0dXJl`;

const credentials: [string, string][] = [
  ['an API key of live', newApiKey('live')],
  ['an API key of demo', newApiKey('demo')],
  ['an API key cut off', newApiKey('live').slice(0, 40)],
  ['an operator token', newServiceToken('operator', 'live')],
  ['a platform token', newServiceToken('platform', 'demo')],
  ['the token of the service itself', `service_demo_${hex}`],
  ['a webhook secret', `whsec_${Buffer.alloc(32, 7).toString('base64')}`],
  ['a JWT', jwt],
  ['a JWT without its signature', jwt.slice(0, jwt.lastIndexOf('.') + 1)],
];

/** The part of a credential that would be of use: everything behind its prefix. */
const useful = (credential: string) => credential.replace(/^[a-z]+_(live_|demo_)?/, '').slice(0, 24);

const places: [string, (credential: string) => string][] = [
  ['by itself', (it) => it],
  ['in a sentence', (it) => `refused: ${it}, sorry`],
  ['in JSON', (it) => JSON.stringify({ it })],
  ['behind a line break in JSON', (it) => JSON.stringify({ stack: `Error:\n${it}\r\n${it}\tx` })],
  ['behind a control character in JSON', (it) => JSON.stringify({ text: `\u0001${it}` })],
  ['in JSON within JSON', (it) => JSON.stringify({ body: JSON.stringify({ text: `\n${it}` }) })],
  ['in a query', (it) => `GET /v1/x?key=${it}&a=b`],
  ['in a path', (it) => `/v1/${it}/clients`],
  ['as a bearer token', (it) => `authorization: Bearer ${it}`],
  ['glued to a word', (it) => `key${it}`],
  ['in the user part of an address', (it) => `https://${it}@example.com/`],
  ['twice', (it) => `${it} ${it}`],
];

describe.each(credentials)('%s does not survive', (_, credential) => {
  test.each(places)('%s', (__, place) => {
    const line = scrub(place(credential));
    expect(line).not.toContain(useful(credential));
    expect(line).toContain('[secret]');
  });
});

describe('what is a credential by where it stands does not survive', () => {
  test.each([
    ['a bearer token of any kind', 'Bearer 7Gq2canary', 'Bearer [secret]'],
    ['whatever the case', 'bearer 7Gq2canary', 'bearer [secret]'],
    ['basic credentials', 'Basic YXBwXzE6Y2FuYXJ5', 'Basic [secret]'],
    ['basic credentials behind a line break in JSON', '"a\\nBasic YXBwXzE6Y2FuYXJ5"', '"a\\nBasic [secret]"'],
    [
      'a password in an address',
      'postgres://user:canary@host:5432/db',
      'postgres://user:[secret]@host:5432/db',
    ],
    ['a password without a user', 'redis://:canary@host', 'redis://:[secret]@host'],
    ['a password of one character', 'postgres://u:c@host', 'postgres://u:[secret]@host'],
  ])('%s', (_, line, scrubbed) => {
    expect(scrub(line)).toBe(scrubbed);
  });
});

describe('ordinary text survives', () => {
  test.each([
    'listening on http://localhost:4000 and http://127.0.0.1:4001',
    'mail maren.okafor@example.com about https://example.com:8443/path?to=a@example.com',
    'iin_HnuQOy4YQg1OdOSCDbMAkY cli_4Fqnh5226raKAAEIfY2jwW wrk_l50ycP5H6CnQHxa7Xt2y3d',
    'the hint ik_live_4Fqn… is enough to tell keys apart; keys begin with ik_live_ or ik_demo_',
    'operator_live and platform_demo are kinds of tokens, whsec_ begins a secret',
    '{"requestId":"0b6f2c1e-94f3-4d0c-8f0a-6a4c2d9e7b15","durationMs":1.5,"status":200}',
    'Bearer is the scheme, and Basic the other',
    '/integration.directory.v1.DirectoryService/Read/listInstanceIntegrations',
    'at Object.<anonymous> (file:///srv/dist/src/edge/http/listener.js:44:11)',
    '2026-11-20T09:32:40.123Z',
  ])('%s', (text) => {
    expect(scrub(text)).toBe(text);
  });

  test('JSON stays JSON', () => {
    const any = fc.oneof(fc.string(), ...credentials.map(([, it]) => fc.constant(it)));
    fc.assert(
      fc.property(fc.dictionary(any, fc.oneof(any, fc.array(any))), (fields) => {
        expect(() => JSON.parse(scrub(JSON.stringify(fields)))).not.toThrow();
      }),
    );
  });
});

/** Long enough that anything but a linear scan takes minutes. */
const SLOW_LINE_LENGTH = 2_000_000;

test('a line made to be slow is scrubbed in a time that grows with its length only', () => {
  withinTime(() => {
    for (const piece of ['eyJ', 'eyJaaaaaaaa.', '://a:', 'ik_live_', 'Bearer ', '://', 'whsec_', 'a-']) {
      scrub(piece.repeat(SLOW_LINE_LENGTH / piece.length));
    }
  });
});
