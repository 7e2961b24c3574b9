import { expect, test } from '@jest/globals';
import { COUNTRIES } from '../../../src/domain/platform/addresses.js';

const named = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Named by Unicode, and not assigned by ISO 3166-1: reserved, withdrawn, or of private use. */
const NOT_ASSIGNED =
  'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH QO RH SU TA TP UK UN VD XA XB XK YD YU ZR ZZ'.split(' ');

test('the list has the countries of ISO 3166-1, which are those with a name and no others', () => {
  const known = letters.flatMap((a) => letters.map((b) => a + b)).filter((code) => named.of(code));
  expect([...COUNTRIES]).toEqual([...COUNTRIES].sort());
  expect(COUNTRIES.size).toBe(249);
  expect([...COUNTRIES].filter((code) => !known.includes(code))).toEqual([]);
  expect(known.filter((code) => !COUNTRIES.has(code) && !NOT_ASSIGNED.includes(code))).toEqual([]);
  expect(NOT_ASSIGNED.filter((code) => COUNTRIES.has(code))).toEqual([]);
});
