import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { exchangeCode } from '../../../../src/domain/sign-on/tokens/exchange-code.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const verifier = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 43, maxLength: 128 });

function challengeOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

const REDIRECT_URI = 'https://portal.example.com/callback';
const application = { id: 'app_1', type: 'public', redirectUris: [{ uri: REDIRECT_URI }], allowedScopes: [] };

/** What comes of the verifier: `proven` when only the next check refuses the code, which grants no scope. */
async function outcomeOf(codeVerifier: string, codeChallenge: string): Promise<string> {
  const code = { applicationId: application.id, redirectUri: REDIRECT_URI, codeChallenge, scopes: [] };
  const exchange = { codeHash: new Uint8Array(32), redirectUri: REDIRECT_URI, codeVerifier };
  const found = { code: code as never, identity: undefined };
  const issuer = { observe: () => undefined, clock: () => 0 };
  const attempt = exchangeCode(issuer as never, { application } as never, exchange, found);
  const message = await attempt.then(
    () => 'issued',
    (error: Error) => error.message,
  );
  switch (message) {
    case 'The application may not use the granted scopes any more.':
      return 'proven';
    case 'The code_verifier does not match the code_challenge.':
      return 'no proof';
    case 'The code_verifier must have 43 to 128 characters, of A-Z a-z 0-9 . _ ~ and - alone.':
      return 'no verifier';
    default:
      return message;
  }
}

describe('a code verifier', () => {
  test('proves the challenge that the standard gives as its example', async () => {
    const example = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    expect(await outcomeOf(example, 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')).toBe('proven');
  });

  test('of the right length and alphabet proves its own challenge and no other', async () => {
    await fc.assert(
      fc.asyncProperty(verifier, verifier, async (one, other) => {
        expect(await outcomeOf(one, challengeOf(one))).toBe('proven');
        expect(await outcomeOf(one, challengeOf(other))).toBe(one === other ? 'proven' : 'no proof');
      }),
    );
  });

  test('never proves itself as its challenge, nor any other text', async () => {
    await fc.assert(
      fc.asyncProperty(verifier, fc.string(), async (one, text) => {
        expect(await outcomeOf(one, one)).toBe('no proof');
        expect(await outcomeOf(one, text)).toBe('no proof');
      }),
    );
  });

  test('of another length, or with one character of another alphabet, is none', async () => {
    const foreign = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 1 })
      .filter((one) => !ALPHABET.includes(one));
    await fc.assert(
      fc.asyncProperty(verifier, foreign, fc.nat(42), async (text, stranger, at) => {
        const challenge = challengeOf(text);
        expect(await outcomeOf(text.slice(0, at) + stranger + text.slice(at + 1), challenge)).toBe(
          'no verifier',
        );
        expect(await outcomeOf(text.slice(0, at), challenge)).toBe('no verifier');
        expect(await outcomeOf(text.padEnd(129 + at, 'a'), challenge)).toBe('no verifier');
      }),
    );
  });
});
