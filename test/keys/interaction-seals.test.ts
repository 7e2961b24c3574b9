import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import {
  MAX_QUERY_LENGTH,
  queryOf,
} from '../../src/domain/sign-on/authorization/authorization-parameters.js';
import type { Interaction } from '../../src/domain/sign-on/interaction/interactions.js';
import { SealedBox } from '../../src/keys/sealed-box.js';
import { interactionSeals } from '../../src/keys/subkeys.js';
import { newInteraction, newRequest } from '../store/adapters/sign-on/samples.js';

const NOW = 1_790_000_000_000;
const seals = interactionSeals(new SealedBox(randomBytes(32)));

function longest(state: string, filler: string): Interaction {
  const query = queryOf({ state, claims: '', repeatedNames: [] });
  const claims = encodeURIComponent(filler).slice(0, MAX_QUERY_LENGTH - query.length);
  return newInteraction(NOW, { request: newRequest({ state, query: `${query}${claims}` }) });
}

test.each<[what: string, interaction: Interaction]>([
  ['an authorization', newInteraction(NOW)],
  [
    'one that was refused once',
    newInteraction(NOW, { progress: { refusal: 'credentials', refusedEmail: 'a"ü@example.com' } }),
  ],
  [
    'one that says nothing twice',
    longest(randomBytes(2_900).toString('base64url'), randomBytes(6_000).toString('base64')),
  ],
  ['one of another alphabet', longest('漢字仮名交じり文'.repeat(50), '\u{1f511}'.repeat(600))],
])('what was sealed comes back, and fits an address: %s', (_, interaction) => {
  const token = seals.seal(interaction);
  expect(token).toMatch(/^[A-Za-z0-9_-]{16,14000}$/);
  // Servers read 16 KiB of address and headers.
  expect(token.length).toBeLessThan(MAX_QUERY_LENGTH * 1.25);
  expect(seals.open(token)).toEqual(interaction);
  expect(interactionSeals(new SealedBox(randomBytes(32))).open(token)).toBeUndefined();
});

test.each(['', 'nonsense', '__proto__', '\u0000', 'A'.repeat(12_000)])(
  'nothing else opens: %.20j',
  (token) => {
    expect(seals.open(token)).toBeUndefined();
  },
);
