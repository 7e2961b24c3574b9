import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { apiKeyHint, inspectApiKey, newApiKey } from '../../src/identifiers/api-key.js';

type Environment = 'live' | 'demo';

const environment = fc.constantFrom<Environment>('live', 'demo');
const key = fc.tuple(environment, fc.noShrink(fc.nat())).map(([of]) => ({ of, text: newApiKey(of) }));
const otherThan = (of: Environment): Environment => (of === 'live' ? 'demo' : 'live');

describe('a new key', () => {
  test('has 64 characters and is accepted where it belongs', () => {
    fc.assert(
      fc.property(key, ({ of, text }) => {
        expect(text).toMatch(new RegExp(`^ik_${of}_[0-9A-Za-z]{56}$`));
        expect(inspectApiKey(text, of)).toBe('plausible');
      }),
    );
  });

  test('is told apart where it does not belong', () => {
    fc.assert(
      fc.property(key, ({ of, text }) => {
        expect(inspectApiKey(text, otherThan(of))).toBe('wrong_environment');
      }),
    );
  });

  test('is never the same as another', () => {
    const made = Array.from({ length: 1_000 }, () => newApiKey('demo'));
    expect(new Set(made).size).toBe(made.length);
  });
});

describe('a key is refused in both environments once', () => {
  const expectRefused = (text: string) => {
    expect([inspectApiKey(text, 'live'), inspectApiKey(text, 'demo')]).toEqual(['malformed', 'malformed']);
  };
  const character = fc.oneof(fc.stringMatching(/^[0-9A-Za-z_]$/), fc.string({ minLength: 1, maxLength: 1 }));

  test('a single character is changed', () => {
    fc.assert(
      fc.property(key, fc.nat(63), character, ({ text }, at, changed) => {
        fc.pre(text[at] !== changed);
        expectRefused(text.slice(0, at) + changed + text.slice(at + 1));
      }),
      { numRuns: 2_000 },
    );
  });

  test('two neighbours that differ change places', () => {
    fc.assert(
      fc.property(key, fc.nat(62), ({ text }, at) => {
        fc.pre(text[at] !== text[at + 1]);
        expectRefused(text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2));
      }),
    );
  });

  test('a character is left out or added anywhere', () => {
    fc.assert(
      fc.property(key, fc.nat(64), character, ({ text }, at, added) => {
        expectRefused(text.slice(0, at) + added + text.slice(at));
        expectRefused(text.slice(0, Math.min(at, 63)) + text.slice(Math.min(at, 63) + 1));
      }),
    );
  });

  test('its environment is renamed, which its checksum covers', () => {
    fc.assert(
      fc.property(key, ({ of, text }) => {
        expectRefused(text.replace(`_${of}_`, `_${otherThan(of)}_`));
      }),
    );
  });

  test('it is not a key at all', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), expectRefused));
  });

  test.each([' ', '\n', '\t', '\0'])('it has %j around it', (space) => {
    const text = newApiKey('demo');
    expectRefused(text + space);
    expectRefused(space + text);
  });
});

test('the hint tells keys apart and gives four random characters away', () => {
  const text = newApiKey('live');
  expect(apiKeyHint(text)).toBe(`${text.slice(0, 'ik_live_'.length + 4)}…`);
});
