import { type BodyStream, bodyStream } from '../http/exchange.js';

/** A body of the contract that the domain has made, whole or in pieces. It is sent unchanged. */
export class MadeJson {
  constructor(readonly content: Buffer | BodyStream) {}
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

/** A JSON array, streamed from pages that are arrays: a piece for each page that has items. */
export function streamedArray(pages: BodyStream): BodyStream {
  let written: 'nothing' | 'items' | 'all' = 'nothing';
  const next = async (): Promise<IteratorResult<Buffer>> => {
    while (written !== 'all') {
      const page = await pages.next();
      const isFirst = written === 'nothing';
      if (page.done) {
        written = 'all';
        return { done: false, value: isFirst ? Buffer.concat([OPENING, CLOSING]) : CLOSING };
      }
      const items = itemsOf(page.value);
      if (items.length > 0) {
        written = 'items';
        return { done: false, value: Buffer.concat([isFirst ? OPENING : SEPARATOR, items]) };
      }
    }
    return { done: true, value: undefined };
  };
  return bodyStream(next, () => {
    written = 'all';
    return pages.return();
  });
}
