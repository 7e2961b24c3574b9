import { describe, expect, test } from '@jest/globals';
import { ANY_CONTROL, EACH_CONTROL } from '../../src/domain/control-characters.js';

describe('control characters', () => {
  test.each([
    ['a C0 control', '\u0007'],
    ['a line feed', '\n'],
    ['DEL', '\u007f'],
    ['a C1 control, which begins a sequence of a terminal', '\u009b'],
    ['a separator of lines', '\u2028'],
    ['a separator of paragraphs', '\u2029'],
    ['an embedding of the other direction', '\u202b'],
    ['an override of the direction', '\u202e'],
    ['an isolate', '\u2066'],
    ['the end of an isolate', '\u2069'],
  ])('are found and replaced: %s', (_, character) => {
    const name = `Ada${character}Lovelace`;
    expect(ANY_CONTROL.test(name)).toBe(true);
    expect(name.replace(EACH_CONTROL, ' ')).toBe('Ada Lovelace');
  });

  test.each([
    ['Arabic with a mark of direction', 'شركة\u200f (AG)'],
    ['Persian with a joiner', 'می\u200cخواهم'],
    ['an emoji of several', 'Family 👩\u200d👧'],
    ['accents and dashes', 'Zoë Łukasz — Déjà vu'],
    ['a space that does not break', 'A\u00a0B'],
  ])('are not what names need: %s', (_, name) => {
    expect(ANY_CONTROL.test(name)).toBe(false);
  });
});
