/**
 * A long read, piece by piece, each behind the last row of the one before. SQLite reads block the event loop:
 * other work gets its turn after each.
 */
export async function* inPieces<Row extends Place, Place>(
  size: number,
  read: (limit: number, after: Place | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let after: Row | undefined, isOver = false; !isOver; ) {
    const rows = await read(size, after);
    yield rows;
    after = rows.at(-1);
    isOver = rows.length < size;
    await new Promise(setImmediate);
  }
}
