import { describe, expect, test } from '@jest/globals';
import { charactersOf, isLonger } from '../../src/domain/characters.js';
import { mayBeOlder } from '../../src/domain/platform/people/email-addresses.js';
import { Violations } from '../../src/domain/platform/violations.js';
import { isKeepable } from '../../src/domain/sign-on/authorization/authorization-parameters.js';

describe.each([
  ['letters', 'x'],
  ['letters beyond ASCII', 'é'],
  ['emojis, which have two units each', '🔑'],
])('200 %s', (_, character) => {
  const [most, more] = [character.repeat(200), character.repeat(201)];

  test('count as 200 characters; with one more, the text is too long for a limit of 200', () => {
    expect(charactersOf(most, 200)).toBe(200);
    expect([most, more, character.repeat(1_000)].map((text) => isLonger(text, 200))).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('fit a name of 200 characters and a parameter of an authorization request; one more does not', () => {
    const refused = (name: string) => () => {
      const violations = new Violations();
      violations.requiredText('name', name);
      violations.throwIfAny();
    };
    expect(refused(most)).not.toThrow();
    expect(refused(more)).toThrow('The request is invalid');
    expect([most, more].map((text) => isKeepable(text, 200))).toEqual([true, false]);
  });
});

test('an address from before the rule of the contracts has at most 320 characters', () => {
  const address = (characters: number) => `${'🔑'.repeat(characters - '@example.com'.length)}@example.com`;
  expect([320, 321].map((characters) => mayBeOlder(address(characters)))).toEqual([true, false]);
});
