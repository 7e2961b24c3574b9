import { describe, expect, test } from '@jest/globals';
import { purgeExpired } from '../../src/domain/maintenance/purge.js';
import { fakeClock } from './clock.js';

const DAY_MS = 86_400_000;

function storeHolding(apiKeys: number, serviceTokens: number) {
  const asked: [endedBefore: number, limit: number][] = [];
  const take = (held: number) => async (endedBefore: number, limit: number) => {
    asked.push([endedBefore, limit]);
    return Math.min(held, limit);
  };
  return { asked, store: { removeApiKeys: take(apiKeys), removeServiceTokens: take(serviceTokens) } };
}

describe('a purge', () => {
  test('removes what ended longer ago than it is kept, a batch of each kind', async () => {
    const { store, asked } = storeHolding(0, 0);
    const { now } = fakeClock();
    await purgeExpired(store, { credentialsMs: 30 * DAY_MS }, now, 500);
    expect(asked).toEqual(Array(2).fill([now() - 30 * DAY_MS, 500]));
  });

  test.each([
    { keys: 0, tokens: 0, more: false },
    { keys: 9, tokens: 9, more: false },
    { keys: 10, tokens: 0, more: true },
    { keys: 0, tokens: 10, more: true },
    { keys: 11, tokens: 3, more: true },
  ])(
    'of $keys keys and $tokens tokens in batches of 10 says that there may be more: $more',
    async ({ keys, tokens, more }) => {
      const { store } = storeHolding(keys, tokens);
      await expect(purgeExpired(store, { credentialsMs: 0 }, fakeClock().now, 10)).resolves.toEqual({
        apiKeys: Math.min(keys, 10),
        serviceTokens: tokens,
        more,
      });
    },
  );
});
