import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { signaturesOf } from '../../src/delivery/sender.js';

const bytes = fc.uint8Array({ minLength: 1, maxLength: 64 });

describe('a signature', () => {
  test('is the one that Standard Webhooks gives as its example', () => {
    const secret = createSecretKey('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const body = Buffer.from('{"test": 2432232314}');
    expect(signaturesOf([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, body)).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  test('is what the library makes, for any secret, id, time and text', () => {
    fc.assert(
      fc.property(
        bytes,
        fc.stringMatching(/^evt_\w{22}$/),
        fc.nat(),
        fc.string({ unit: 'grapheme' }),
        (secret, id, at, text) => {
          const expected = new Webhook(Buffer.from(secret).toString('base64')).sign(
            id,
            new Date(at * 1_000),
            text,
          );
          expect(signaturesOf([createSecretKey(secret)], id, at, Buffer.from(text))).toBe(expected);
        },
      ),
    );
  });

  test('is of the bytes, whatever they are', () => {
    const secret = createSecretKey(randomBytes(32));
    const broken = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    const mended = Buffer.from(broken.toString('utf8'));
    expect(signaturesOf([secret], 'evt_1', 1, broken)).not.toBe(signaturesOf([secret], 'evt_1', 1, mended));
    const within = Buffer.concat([Buffer.from('..'), broken, Buffer.from('..')]).subarray(2, 6);
    expect(signaturesOf([secret], 'evt_1', 1, within)).toBe(signaturesOf([secret], 'evt_1', 1, broken));
  });

  test('stands once for each secret, in their order', () => {
    const [newer, older] = [createSecretKey(randomBytes(32)), createSecretKey(randomBytes(32))];
    const body = Buffer.from('{}');
    expect(signaturesOf([newer, older], 'evt_1', 1, body)).toBe(
      `${signaturesOf([newer], 'evt_1', 1, body)} ${signaturesOf([older], 'evt_1', 1, body)}`,
    );
  });
});
