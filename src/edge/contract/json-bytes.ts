import type { BodyStream } from '../http/exchange.js';

/** A body of the contract that the domain has made. It is sent unchanged. */
export class JsonBytes {
  constructor(readonly bytes: Buffer) {}
}

/** The same in pieces, of which each is sent as it comes. */
export class JsonPieces {
  constructor(readonly pieces: BodyStream) {}
}

/** The items of a JSON array, without its brackets. */
function itemsOf(array: Buffer): Buffer {
  return array.subarray(1, -1);
}

const OPENING = Buffer.from('[');
const SEPARATOR = Buffer.from(',');
const CLOSING = Buffer.from(']');

/** One array of the items of several. */
export function joinedArrays(arrays: readonly Buffer[]): Buffer {
  const parts = arrays
    .map(itemsOf)
    .filter(({ length }) => length > 0)
    .flatMap((items) => [SEPARATOR, items]);
  return Buffer.concat([OPENING, ...parts.slice(1), CLOSING]);
}

/**
 * A JSON array, streamed from pages that are arrays. No generator: `return` on an unstarted one would not
 * release the source.
 */
export class StreamedArray implements AsyncIterableIterator<Buffer> {
  #written: 'nothing' | 'items' | 'all' = 'nothing';

  constructor(private readonly pages: AsyncIterator<Buffer>) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next piece, one for each page that has items. */
  async next(): Promise<IteratorResult<Buffer>> {
    while (this.#written !== 'all') {
      const page = await this.pages.next();
      const isFirst = this.#written === 'nothing';
      if (page.done) {
        this.#written = 'all';
        return { done: false, value: isFirst ? Buffer.concat([OPENING, CLOSING]) : CLOSING };
      }
      const items = itemsOf(page.value);
      if (items.length > 0) {
        this.#written = 'items';
        return { done: false, value: Buffer.concat([isFirst ? OPENING : SEPARATOR, items]) };
      }
    }
    return { done: true, value: undefined };
  }

  /** Releases the source, whether or not it was read to the end. */
  async return(): Promise<IteratorResult<Buffer>> {
    this.#written = 'all';
    await this.pages.return?.();
    return { done: true, value: undefined };
  }
}
