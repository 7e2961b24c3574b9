/**
 * Reads rows in pieces; each piece begins after the last row of the previous one. Reads of SQLite block the
 * event loop, so other work runs after each piece.
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
