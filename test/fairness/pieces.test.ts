import { describe, expect, test } from '@jest/globals';
import { inPieces } from '../../src/fairness/pieces.js';

/** A list of numbers that records each request for a piece. */
function listOf(length: number) {
  const asked: [limit: number, after: number | undefined][] = [];
  const read = async (limit: number, after?: number) => {
    asked.push([limit, after]);
    const from = after ?? 0;
    return Array.from({ length: Math.min(limit, length - from) }, (_, index) => from + index + 1);
  };
  return { asked, read };
}

async function piecesOf(length: number): Promise<number[][]> {
  const pieces: number[][] = [];
  for await (const piece of inPieces(2, listOf(length).read)) {
    pieces.push(piece);
  }
  return pieces;
}

describe('a long read in pieces', () => {
  test.each([
    [0, [[]]],
    [3, [[1, 2], [3]]],
    [4, [[1, 2], [3, 4], []]],
  ])('of %d rows ends after the first piece that is not full', async (length, pieces) => {
    expect(await piecesOf(length)).toEqual(pieces);
  });

  test('reads a piece only when the caller asks for it, after the last row of the previous piece', async () => {
    const { asked, read } = listOf(9);
    for await (const piece of inPieces(2, read)) {
      if (piece.includes(4)) {
        break;
      }
    }
    expect(asked).toEqual([
      [2, undefined],
      [2, 2],
    ]);
  });

  test('gives other work its turn before the next piece', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other work'));
    for await (const piece of inPieces(2, listOf(3).read)) {
      order.push(`piece of ${piece.length}`);
    }
    expect(order).toEqual(['piece of 2', 'other work', 'piece of 1']);
  });
});
