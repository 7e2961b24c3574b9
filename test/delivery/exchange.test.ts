import { expect, test } from '@jest/globals';
import { Exchange } from '../../src/delivery/exchange.js';

const KIB = 1_024;
const KEPT_BYTES = 16 * KIB;

function answered(pieces: Iterable<Buffer>): Exchange {
  const time = { endsAt: Number.POSITIVE_INFINITY, aheadMs: 0 };
  const exchange = new Exchange('hooks.example.com', () => undefined, time);
  exchange.onConnect(() => undefined);
  exchange.onHeaders(200, []);
  for (const piece of pieces) {
    exchange.onData(piece);
  }
  return exchange;
}

test.each([1, 3, 1_000, 5_000, KEPT_BYTES, KEPT_BYTES + 1])(
  'the start of an answer in pieces of %d bytes is kept in their order, and no more of it',
  (size) => {
    const answer = Buffer.from(Array.from({ length: KEPT_BYTES + 2 * size }, (_, index) => index % 251));
    const pieces = Array.from({ length: Math.ceil(answer.length / size) }, (_, index) =>
      answer.subarray(index * size, (index + 1) * size),
    );
    const { responseStart } = answered(pieces);
    expect(responseStart.equals(answer.subarray(0, KEPT_BYTES))).toBe(true);
  },
);

test('what is read into afterwards does not change what was kept', () => {
  const piece = Buffer.from('fine');
  const { responseStart } = answered([piece]);
  piece.fill('x');
  expect(responseStart.toString()).toBe('fine');
});

test('an answer of many pieces costs no more memory than one of few', () => {
  const pieces = Array<Buffer>(KEPT_BYTES).fill(Buffer.from('x'));
  const before = process.memoryUsage();
  const exchanges = Array.from({ length: 50 }, () => answered(pieces));
  const after = process.memoryUsage();
  const grownBytes = after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers;
  expect(exchanges.every(({ responseStart }) => responseStart.length === KEPT_BYTES)).toBe(true);
  // Kept piece by piece, they would take two megabytes each.
  expect(grownBytes / exchanges.length).toBeLessThan(1_000 * KIB);
});
