import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SCOPES } from '../../../../src/domain/operator/application-rules.js';
import {
  parseMaxAge,
  parsePrompts,
  parseScopes,
} from '../../../../src/domain/sign-on/authorization/request-parsers.js';
import { CONTEXT_CLASS, parseClaims } from '../../../../src/domain/sign-on/authorization/requested-claims.js';

describe('scope', () => {
  test('is known in any order and however often, and told in one order', () => {
    const tokens = fc.array(fc.constantFrom(...SCOPES), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(tokens, (asked) => {
        expect(parseScopes(asked.join(' '))).toEqual({
          known: SCOPES.filter((scope) => asked.includes(scope)),
          unknown: [],
        });
      }),
    );
  });

  test('is never taken for more than it says', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { known = [], unknown = [] } = parseScopes(text) ?? {};
        const tokens = text.split(' ');
        expect([...known, ...unknown].every((scope) => tokens.includes(scope))).toBe(true);
        expect(unknown.some((scope) => SCOPES.includes(scope))).toBe(false);
      }),
    );
  });

  test.each(['', ' ', 'openid ', ' openid', 'openid  email', 'openid\temail', 'a"b', 'a\\b', 'é', 'a\u0000'])(
    'is malformed: %j',
    (text) => {
      expect(parseScopes(text)).toBeUndefined();
    },
  );

  test.each(['__proto__', 'constructor', 'OPENID', 'offline_access', 'openid,email'])(
    'is unknown: %s',
    (text) => {
      expect(parseScopes(text)).toEqual({ known: [], unknown: [text] });
    },
  );
});

describe('prompt', () => {
  test.each([
    ['none', { silent: true, prompts: [] }],
    ['login', { silent: false, prompts: ['login'] }],
    ['select_account consent login', { silent: false, prompts: ['select_account', 'consent', 'login'] }],
    ['login login', { silent: false, prompts: ['login'] }],
  ])('is taken: %s', (text, prompts) => {
    expect(parsePrompts(text)).toEqual(prompts);
  });

  test.each(['', ' none', 'none login', 'login none', 'create', 'Login', 'login,consent', 'login  consent'])(
    'is refused: %j',
    (text) => {
      expect(parsePrompts(text)).toBeUndefined();
    },
  );

  test('never silences a page that is asked for', () => {
    const token = fc.constantFrom('none', 'login', 'consent', 'select_account', 'other', '');
    fc.assert(
      fc.property(fc.array(token, { maxLength: 4 }), (tokens) => {
        const parsed = parsePrompts(tokens.join(' '));
        expect(parsed?.silent ?? false).toBe(tokens.join(' ') === 'none');
      }),
    );
  });
});

describe('max_age', () => {
  test('is any non-negative integer as JSON writes it, and is returned unchanged', () => {
    fc.assert(
      fc.property(fc.nat({ max: 9_999_999_999 }), (seconds) => {
        expect(parseMaxAge(String(seconds))).toBe(seconds);
      }),
    );
  });

  test.each(['', ' 1', '1 ', '-1', '+1', '01', '1.0', '1e3', '0x10', 'NaN', 'Infinity', '10000000000', '١'])(
    'is no number of seconds: %j',
    (text) => {
      expect(parseMaxAge(text)).toBeUndefined();
    },
  );
});

describe('claims', () => {
  const NOTHING = { subject: null, impossibleContextClass: false };

  test.each([
    ['{}', NOTHING],
    ['{"other":7,"userinfo":{"email":{"essential":true},"name":null}}', NOTHING],
    ['{"id_token":{"auth_time":{"essential":true}}}', NOTHING],
    ['{"id_token":{"sub":{"value":"acc_1"}}}', { ...NOTHING, subject: 'acc_1' }],
    [
      '{"userinfo":{"sub":{"value":"acc_1"}},"id_token":{"sub":{"values":["acc_1"]}}}',
      { ...NOTHING, subject: 'acc_1' },
    ],
    ['{"id_token":{"sub":null}}', NOTHING],
    ['{"id_token":{"acr":{"essential":true,"values":["x"]}}}', { ...NOTHING, impossibleContextClass: true }],
    ['{"id_token":{"acr":{"essential":true,"value":"x"}}}', { ...NOTHING, impossibleContextClass: true }],
    ['{"id_token":{"acr":{"essential":true,"value":7}}}', { ...NOTHING, impossibleContextClass: true }],
    [`{"id_token":{"acr":{"essential":true,"values":["x","${CONTEXT_CLASS}"]}}}`, NOTHING],
    [`{"id_token":{"acr":{"essential":true,"value":"${CONTEXT_CLASS}"}}}`, NOTHING],
    ['{"id_token":{"acr":{"essential":true}}}', NOTHING],
    ['{"id_token":{"acr":null}}', NOTHING],
    ['{"id_token":{"acr":{"values":["x"]}}}', NOTHING],
    ['{"__proto__":{"id_token":{"sub":{"value":"acc_1"}}}}', NOTHING],
    ['{"id_token":{"__proto__":{"essential":true},"constructor":null}}', NOTHING],
    ['{"id_token":{"address":{"value":{"country":"DE"}}}}', NOTHING],
  ])('are read: %s', (text, claims) => {
    expect(parseClaims(text)).toEqual(claims);
  });

  test.each([
    ['no JSON', '{'],
    ['a text', '"id_token"'],
    ['null', 'null'],
    ['an array', '[]'],
    ['a member that is a text', '{"id_token":"auth_time"}'],
    ['a member that is null', '{"id_token":null}'],
    ['a member that is an array', '{"userinfo":["email"]}'],
    ['a claim that is true', '{"id_token":{"auth_time":true}}'],
    ['an essential that is a text', '{"id_token":{"email":{"essential":"true"}}}'],
    ['values that are none', '{"id_token":{"email":{"values":"a"}}}'],
    ['an empty list of values', '{"id_token":{"email":{"values":[]}}}'],
    ['a sub that is a number', '{"id_token":{"sub":{"value":7}}}'],
    ['a sub that is empty', '{"id_token":{"sub":{"value":""}}}'],
    ['two people', '{"id_token":{"sub":{"values":["acc_1","acc_2"]}}}'],
    ['two people in two places', '{"id_token":{"sub":{"value":"a"}},"userinfo":{"sub":{"value":"b"}}}'],
    ['too deep', `{"x":${'['.repeat(20)}${']'.repeat(20)}}`],
    ['much too deep', `{"x":${'['.repeat(4_000)}${']'.repeat(4_000)}}`],
  ])('are refused: %s', (_, text) => {
    expect(parseClaims(text)).toBeUndefined();
  });

  test('of any JSON are read or refused, and never touch what all objects share', () => {
    const json = fc.oneof(
      fc.json(),
      fc.json().map((inner) => `{"id_token":${inner}}`),
      fc.string(),
    );
    fc.assert(
      fc.property(json, (text) => {
        const claims = parseClaims(text);
        expect(claims === undefined || typeof claims.impossibleContextClass === 'boolean').toBe(true);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});
