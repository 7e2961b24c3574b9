import { expect, test } from '@jest/globals';
import { openWithPassphrase, sealWithPassphrase } from '../../src/keys/passphrase-box.js';
import { SealError } from '../../src/keys/sealed-box.js';

const CONTENT = Buffer.from('the key file');
const sealed = sealWithPassphrase(CONTENT, 'fünf Wörter ergeben einen Satz', 'backup');

test('what a passphrase seals opens with it, however its letters are composed', () => {
  expect(openWithPassphrase(sealed, 'fünf Wörter ergeben einen Satz'.normalize('NFD'), 'backup')).toEqual(
    CONTENT,
  );
  expect(sealed).not.toContain(CONTENT.toString('base64url'));
});

test('it opens with no other passphrase, for no other name, and not when it was changed', () => {
  expect(() => openWithPassphrase(sealed, 'fünf Wörter ergeben keinen Satz', 'backup')).toThrow(SealError);
  expect(() => openWithPassphrase(sealed, 'fünf Wörter ergeben einen Satz', 'other')).toThrow(SealError);
  const box = JSON.parse(sealed);
  const changed = { ...box, salt: Buffer.alloc(16).toString('base64url') };
  expect(() =>
    openWithPassphrase(JSON.stringify(changed), 'fünf Wörter ergeben einen Satz', 'backup'),
  ).toThrow(SealError);
});

test('a file that asks for other costs is refused before it costs anything', () => {
  const costly = JSON.stringify({ ...JSON.parse(sealed), N: 2 ** 30 });
  expect(() => openWithPassphrase(costly, 'fünf Wörter ergeben einen Satz', 'backup')).toThrow(
    'does not have the format integration-passphrase-box/1',
  );
});

test('two seals of the same content have nothing in common', () => {
  const other = JSON.parse(sealWithPassphrase(CONTENT, 'fünf Wörter ergeben einen Satz', 'backup'));
  const { salt, sealed: text } = JSON.parse(sealed);
  expect(other.salt).not.toBe(salt);
  expect(other.sealed).not.toBe(text);
});
