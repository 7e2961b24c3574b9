import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { allowedAddress, faultOfAddress } from '../../../../src/domain/webhooks/subscriptions/rules.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { SERVICE_TOKEN_KINDS } from '../../../../src/identifiers/service-token.js';

const KEY = `ik_live_${'a1'.repeat(28)}`;

/** A guard that refuses as it is told, and remembers what it was asked. */
function guard(refusal?: string) {
  const asked: string[] = [];
  const refusalOf = async (url: URL) => {
    asked.push(url.hostname);
    return refusal;
  };
  return { addressGuard: { refusalOf }, asked };
}

describe('an address is good to post to', () => {
  test.each([
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['https://hooks.example.com/in/v1?team=7&x=%20', 'https://hooks.example.com/in/v1?team=7&x=%20'],
    ['HTTPS://Hooks.Example.COM:443/In', 'https://hooks.example.com/In'],
    ['https://hooks.example.com:8443/a/../b', 'https://hooks.example.com:8443/b'],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['http://[::1]:8080/', 'http://[::1]:8080/'],
    ['https://hooks.example.com/ik_demo_board', 'https://hooks.example.com/ik_demo_board'],
    [
      'https://hooks.example.com/analytics_live_4f3a9c8b7d6e5f4a3b2c1d',
      'https://hooks.example.com/analytics_live_4f3a9c8b7d6e5f4a3b2c1d',
    ],
    [`https://a.example/${'p'.repeat(2_030)}`, `https://a.example/${'p'.repeat(2_030)}`],
  ])('%s, kept as it is used', async (text, kept) => {
    const { addressGuard, asked } = guard();
    expect(faultOfAddress(text)).toBeUndefined();
    await expect(allowedAddress(text, { addressGuard })).resolves.toBe(kept);
    expect(asked).toEqual([new URL(kept).hostname]);
  });
});

describe('an address is none to post to', () => {
  test.each([
    ['', /empty/],
    ['hooks.example.com', /absolute/],
    ['//hooks.example.com/', /absolute/],
    ['https:/hooks.example.com', /absolute/],
    ['https://', /absolute/],
    ['https://:443/', /absolute/],
    ['https://a.example:99999/', /absolute/],
    ['ftp://hooks.example.com/', /absolute/],
    ['javascript:alert(1)', /absolute/],
    ['file:///etc/passwd', /absolute/],
    [' https://hooks.example.com/', /absolute/],
    ['https://hooks.example.com/\n', /absolute/],
    ['https://hooks.exa\tmple.com/', /absolute/],
    ['https://hooks.example.com\\@other.example/', /absolute/],
    ['https://bücher.example/', /absolute/],
    ['https://hooks.example.com/#', /fragment/],
    ['https://hooks.example.com/in#part', /fragment/],
    ['https://someone@hooks.example.com/', /credentials/],
    ['https://someone:secret@hooks.example.com/', /credentials/],
    ['https://:secret@hooks.example.com/', /credentials/],
    [`https://hooks.example.com/in?key=${KEY}`, /API key/],
    [`https://hooks.example.com/${KEY.replaceAll('_', '%5f')}`, /API key/],
    [`https://hooks.example.com/?key=my_${KEY}`, /API key/],
    [`https://hooks.example.com/?key=%0a${KEY}`, /API key/],
    [`https://hooks.example.com/?key=%e2%80%8b${KEY}`, /API key/],
    ['https://hooks.example.com/?s=whsec_YWJj', /secret/],
    [`https://a.example/${'p'.repeat(2_031)}`, /longer than 2048/],
  ])('%j', (text, fault) => {
    expect(faultOfAddress(text)).toMatch(fault);
  });
});

test.each(['cs', ...SERVICE_TOKEN_KINDS, 'edge', 'relay', 'maintenance'])(
  'an address with a %s secret is refused',
  (kind) => {
    for (const environment of ['live', 'demo']) {
      const address = `https://hooks.example.com/${kind}_${environment}_${'x'.repeat(48)}`;
      expect(faultOfAddress(address)).toMatch(/secret of this service/);
    }
  },
);

test('the reason of the guard against an address is in the refusal', async () => {
  const sentence = 'resolves to 10.0.0.7, which is inside a private network';
  const { addressGuard } = guard(sentence);
  const refused = allowedAddress('https://hooks.example.com/', { addressGuard });
  await expect(refused).rejects.toMatchObject({
    code: ErrorCode.WEBHOOK_URL_REFUSED,
    message: `The address ${sentence}.`,
    fieldViolations: [{ path: 'url', message: sentence }],
  });
});

test('whatever is accepted is a web address that means the same when it is read again, with nothing hidden in it', async () => {
  const { addressGuard } = guard();
  const part = fc.string({ unit: fc.constantFrom(...'aZ09.-:/@?&=%#[]\\ _~é\t'), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('https://', 'http://', 'HtTpS://', ''), part, async (scheme, rest) => {
      const text = scheme + rest;
      fc.pre(faultOfAddress(text) === undefined);
      const kept = new URL(await allowedAddress(text, { addressGuard }));
      expect(kept.href).toBe(new URL(text).href);
      expect(new URL(kept.href).href).toBe(kept.href);
      expect([kept.username, kept.password, kept.hash]).toEqual(['', '', '']);
      expect(['http:', 'https:']).toContain(kept.protocol);
      expect(kept.hostname).not.toBe('');
    }),
    { numRuns: 300 },
  );
});
