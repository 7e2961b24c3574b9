/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly etag: string | null;
  /** Address of the next page; `null` on the last. */
  readonly next: string | null;
}

/** A list that is read page by page while you iterate: `for await (const item of list)`. */
export class Paged<T> implements AsyncIterable<T> {
  readonly #read: (address: string | null) => Promise<Page<T>>;

  /** @param read returns the page at an address, and the first one for `null` */
  constructor(read: (address: string | null) => Promise<Page<T>>) {
    this.#read = read;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { items } of this.pages()) {
      yield* items;
    }
  }

  /** The same, a page at a time. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let address: string | null = null;
    do {
      const page: Page<T> = await this.#read(address);
      yield page;
      address = page.next;
    } while (address !== null);
  }

  /** The whole list. */
  async toArray(): Promise<T[]> {
    const all: T[] = [];
    for await (const { items } of this.pages()) {
      all.push(...items);
    }
    return all;
  }
}

/** The next page by `Link` (RFC 8288). */
export function nextAddressOf(headers: Headers, present: string): string | null {
  const link = headers.get('link') ?? '';
  for (const [, target = '', parameters = ''] of link.matchAll(/<([^>]*)>((?:\s*;[^,<]*)*)/g)) {
    if (/;\s*rel\s*=\s*(?:next\b|"[^"]*\bnext\b[^"]*")/i.test(parameters)) {
      // Only its query: the key goes to the configured address, which the service may not know.
      const next = new URL(present);
      next.search = /\?[^#]*/.exec(target)?.[0] ?? '';
      return next.href;
    }
  }
  return null;
}
