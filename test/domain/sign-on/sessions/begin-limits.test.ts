import { expect, test } from '@jest/globals';
import { RateLimiter } from '../../../../src/domain/access/rate-limiter.js';
import { countStranger } from '../../../../src/domain/sign-on/sessions/begin-limits.js';
import type { Browser } from '../../../../src/domain/sign-on/sessions/browser.js';
import type { SignOn } from '../../../../src/domain/sign-on/sign-on.js';
import { fakeClock } from '../../clock.js';

/** Answers from which of the addresses a sign-in could not be begun. */
async function refusedOf(addresses: string[]): Promise<string[]> {
  const clock = fakeClock();
  const limiter = (limit: number) => new RateLimiter({ limit, windowMs: 60_000 }, clock.now);
  const signOn = { strangers: limiter(2), crowds: limiter(5) } as Pick<SignOn, 'strangers' | 'crowds'>;
  const refused: string[] = [];
  for (const remoteAddress of addresses) {
    const begin = async () => countStranger(signOn as SignOn, { remoteAddress } as Browser);
    await begin().catch(() => refused.push(remoteAddress));
  }
  return refused;
}

test('sign-ins that are begun are counted for the IPv4 address or the /64, which a neighbour in the /48 does not share', async () => {
  await expect(
    refusedOf([
      '192.0.2.1',
      '192.0.2.1',
      '192.0.2.1',
      '192.0.2.2',
      '2001:db8::1',
      '2001:db8::2',
      '2001:db8::3',
      '2001:db8:0:1::1',
    ]),
  ).resolves.toEqual(['192.0.2.1', '2001:db8::3']);
});

test('one /48 begins no more than its share', async () => {
  const addresses = Array.from({ length: 8 }, (_, subnet) => `2001:db8:0:${subnet}::1`);
  await expect(refusedOf(addresses)).resolves.toEqual(addresses.slice(5));
});
