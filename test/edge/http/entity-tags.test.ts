import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EntityTags } from '../../../src/edge/http/representations.js';
import { withinTime } from '../../support/within-time.js';

const tags = new EntityTags('contract-1');

const anything = fc.string({ unit: 'binary' });
const question = fc.record({
  contract: fc.stringMatching(/^[\w-]{1,43}$/),
  operation: fc.stringMatching(/^[a-zA-Z]\w{0,20}$/),
  address: anything,
});
/** The domain's version values: text that may stand in a header, without a quote. */
const version = fc.stringMatching(/^[!#-~]{1,40}$/);

const saltOf = ({ contract, operation, address }: { contract: string; operation: string; address: string }) =>
  new EntityTags(contract).saltOf(operation, address);

describe('properties', () => {
  test('the tag of an answer, weak or strong and among any others, gives its version back', () => {
    fc.assert(
      fc.property(question, version, fc.array(version), fc.boolean(), (asked, mine, others, weak) => {
        const salt = saltOf(asked);
        const tag = `${weak ? 'W/' : ''}${tags.tagOf(salt, mine)}`;
        const header = [...others.map((other) => `"${other}"`), tag].join(', ');
        expect(tags.knownVersions(salt, header).knownVersions).toContain(mine);
      }),
    );
  });

  test('the tag of one request never matches another', () => {
    fc.assert(
      fc.property(question, question, version, (one, other, seen) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        const header = tags.tagOf(saltOf(one), seen);
        expect(tags.knownVersions(saltOf(other), header)).toEqual({
          knownVersions: [],
          anyVersionKnown: false,
        });
      }),
    );
  });

  test('moving a character from the operation to the address makes another request', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z]{2,10}$/),
        fc.stringMatching(/^[a-z\n]{0,10}$/),
        (name, address) => {
          const moved = tags.saltOf(name.slice(0, -1), `${name.slice(-1)}${address}`);
          expect(moved).not.toBe(tags.saltOf(name, address));
        },
      ),
    );
  });

  test('whatever a header holds, it is read without a fault and names only versions of this question', () => {
    const hostile = fc.oneof(
      anything,
      fc
        .array(fc.constantFrom('"', 'W/', ',', '*', ' ', '\\', 'x', tags.saltOf('op', ''), '.'))
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(hostile, (header) => {
        const { knownVersions } = tags.knownVersions(tags.saltOf('op', ''), header);
        for (const known of knownVersions) {
          expect(header).toContain(`"${tags.saltOf('op', '')}.${known}"`);
        }
      }),
    );
  });
});

test('a tag is one text in quotes, safe in a header', () => {
  expect(tags.tagOf(tags.saltOf('listClients', '?limit=1'), 'v')).toMatch(/^"[\w-]{12}\.v"$/);
});

test('another contract makes another tag for the same data', () => {
  expect(new EntityTags('contract-2').saltOf('op', '')).not.toBe(tags.saltOf('op', ''));
});

test.each([
  [undefined, false],
  ['', false],
  ['*', true],
  [' * ', true],
  ['"*"', false],
  ['W/*', false],
  ['*, *', false],
])('If-None-Match %j stands for any version: %s', (header, any) => {
  expect(tags.knownVersions('salt', header).anyVersionKnown).toBe(any);
});

// Anything but a linear scan takes minutes.
test('a megabyte of quotes is read in a time that grows with its length only', () => {
  withinTime(() => {
    tags.knownVersions('salt', '"W/'.repeat(350_000));
  });
});
