import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats, { type FormatMode } from 'ajv-formats';
import fc from 'fast-check';
import { emailAddress } from '../../../generated/email-address.js';
import {
  contractEmailOf,
  isEmailAddress,
  mayBeOlder,
} from '../../../src/domain/platform/people/email-addresses.js';
import { emailKeyOf } from '../../../src/domain/platform/people/email-keys.js';
import { at, isObject, loadContracts } from '../../contract/documented-examples.js';

/** What validating clients do with the schema of the document. */
function clientOf(schema: object, mode: FormatMode) {
  const ajv = new Ajv2020({ strict: true });
  addFormats.default(ajv, { mode });
  const validate = ajv.compile(schema);
  return (text: string) => validate(text);
}

function documented(): object {
  const shared = loadContracts().find(({ name }) => name === 'directory.yaml');
  const schema = at(shared?.root ?? null, '/components/schemas/EmailAddress');
  return isObject(schema) ? schema : {};
}

const byDocument = clientOf(documented(), 'full');
const byFormat = clientOf({ type: 'string', format: 'email' }, 'full');
const byQuickFormat = clientOf({ type: 'string', format: 'email' }, 'fast');
/** The rule of `<input type="email">`. */
const BY_BROWSER =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

const ACCEPTED = [
  'maria@example.com',
  'Jane.Miller+work@Example.COM',
  "o'neil_!#$%&*/=?^`{|}~-@a-b.example",
  'x@xn--bcher-kva.example',
  'a@1.2',
  `${'a.'.repeat(31)}ab@example.com`,
  `a@${'b'.repeat(63)}.com`,
];

const REFUSED = [
  ['two dots', 'a..b@x.com'],
  ['a dot in front', '.a@x.com'],
  ['a dot before the at sign', 'a.@x.com'],
  ['a domain of one label', 'a@b'],
  ['a dot at the end', 'a@x.com.'],
  ['a zero-width blank', 'ja\u200bne@x.com'],
  ['letters beyond ASCII', 'ünï@x.com'],
  ['a domain in letters', 'jane@bücher.example'],
  ['full width', '\uff4aane@x.com'],
  ['no at sign', 'a'],
  ['two at signs', 'a@b@x.com'],
  ['nothing before the at sign', '@x.com'],
  ['an empty label', 'a@x..com'],
  ['a label that begins with a hyphen', 'a@-x.com'],
  ['a label that ends with a hyphen', 'a@x-.com'],
  ['a label of 64 characters', `a@${'b'.repeat(64)}.com`],
  ['an underscore in the domain', 'a@b_c.com'],
  ['an address of a machine', 'a@[127.0.0.1]'],
  ['quotes', '"a b"@x.com'],
  ['a name', 'A <a@x.com>'],
  ['a blank', 'a b@x.com'],
  ['a new line', 'a@x.com\n'],
  ['65 characters before the at sign', `${'a'.repeat(65)}@x.com`],
  ['255 characters', `a@${'b'.repeat(62)}.${'c'.repeat(62)}.${'d'.repeat(62)}.${'e'.repeat(64)}`],
  ['nothing', ''],
] as const;

test('the rule changes only with a migration that computes contract_email anew, as 0017-contract-emails did', () => {
  expect(emailAddress.maxLength).toBe(254);
  expect(emailAddress.pattern.source).toBe(
    "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-](?:\\.?[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]){0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$",
  );
  const stored = ['ada..moreau@x.com', 'jane@b\u00fccher.example', 'jane@example.com'].map(contractEmailOf);
  expect(stored).toEqual([
    'b94a96dfa1a3f894ef88ac63@address.invalid',
    'jane@xn--bcher-kva.example',
    'jane@example.com',
  ]);
});

test.each(ACCEPTED)('%j is an e-mail address for everyone', (text) => {
  expect(isEmailAddress(text)).toBe(true);
  expect(contractEmailOf(text)).toBe(text);
});

test.each(REFUSED)('%s: refused', (_, text) => {
  expect(isEmailAddress(text)).toBe(false);
  expect(byDocument(text)).toBe(false);
});

/** Texts near the border: pieces of addresses, and anything. */
const nearly = fc
  .array(
    fc.oneof(
      fc.constantFrom('@', '.', '-', 'a', 'Z', '9', 'com', 'xn--', '"', '[', ' ', '\u200b', 'ü', '_', '+'),
      fc.constantFrom('b'.repeat(62), 'c'.repeat(63), 'jane@example.com', '.example'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    { maxLength: 9 },
  )
  .map((pieces) => pieces.join(''));
const likely = fc
  .tuple(
    fc.stringMatching(/^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,70}$/),
    fc.stringMatching(/^[a-z0-9.-]{1,80}$/),
  )
  .map((parts) => parts.join('@'));
const texts = fc.oneof(nearly, likely, fc.emailAddress(), fc.string({ unit: 'binary' }));

describe('of any text', () => {
  test('platform and document say the same', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(isEmailAddress(text)).toBe(byDocument(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test('what they accept is accepted by validators of the format and by browsers', () => {
    const accepted = new Set<boolean>();
    fc.assert(
      fc.property(texts, (text) => {
        accepted.add(isEmailAddress(text));
        const judges = [byFormat(text), byQuickFormat(text), BY_BROWSER.test(text)];
        expect(isEmailAddress(text) && judges.includes(false)).toBe(false);
      }),
      { numRuns: 5_000 },
    );
    expect(accepted).toEqual(new Set([true, false]));
  });

  test('what the contracts show is valid, the same each time, and shown as it is', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const shown = contractEmailOf(text);
        expect(byDocument(shown)).toBe(true);
        expect(contractEmailOf(text)).toBe(shown);
        expect(contractEmailOf(shown)).toBe(shown);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('an address from before the rule is shown', () => {
  test.each([
    ['jane@bücher.example', 'jane@xn--bcher-kva.example'],
    ['JA\u200bne@x.com', 'jane@x.com'],
    ['\uff4aane@x.com', 'jane@x.com'],
  ])('as its mailbox where that can be written: %j as %j', (email, shown) => {
    expect(contractEmailOf(email)).toBe(shown);
    expect(emailKeyOf(email)).toBe(emailKeyOf(shown));
  });

  test.each(['a..b@x.com', '.a@x.com', 'a@b', 'a@x.com.', 'ünï@x.com'])(
    'as one that reaches no mailbox otherwise: %j',
    (email) => {
      expect(contractEmailOf(email)).toMatch(/^[0-9a-f]{24}@address\.invalid$/);
      expect(contractEmailOf(email.toUpperCase())).toBe(contractEmailOf(email));
      expect(contractEmailOf(email)).not.toBe(contractEmailOf(`x${email}`));
    },
  );
});

describe('an address from before the rule may be', () => {
  test.each([
    'ada..moreau@x.com',
    'jane@b\u00fccher.example',
    'JA\u200bne@x.com',
    `${'a'.repeat(314)}@x.com`,
  ])('%j', (text) => {
    expect(mayBeOlder(text)).toBe(true);
  });

  test.each([
    ['a valid one', 'ada@x.com'],
    ['a stand-in', contractEmailOf('ada..moreau@x.com')],
    ['one of the domain of stand-ins', 'ada..moreau@Address.Invalid'],
    ['one with NUL', 'ada\u0000@x.com'],
    ['one with another control character', 'ada\u0085@x.com'],
    ['half a character', 'ada\ud800@x.com'],
    ['321 characters', `${'a'.repeat(315)}@x.com`],
  ])('never %s', (_, text) => {
    expect(mayBeOlder(text)).toBe(false);
  });
});
