/**
 * A JSON array that is written while its items arrive, so that a long list is never held as a whole. Not a generator: leaving one that has not begun
 * would not tell where the items come from.
 */
export class StreamedArray<T> implements AsyncIterableIterator<string> {
  #written: 'nothing' | 'items' | 'all' = 'nothing';

  constructor(private readonly pages: AsyncIterator<readonly T[]>) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next piece of the text, one for each page that has items. */
  async next(): Promise<IteratorResult<string>> {
    while (this.#written !== 'all') {
      const page = await this.pages.next();
      const opening = this.#written === 'nothing' ? '[' : '';
      if (page.done) {
        this.#written = 'all';
        return { done: false, value: `${opening}]` };
      }
      if (page.value.length > 0) {
        const separator = opening || ',';
        this.#written = 'items';
        return { done: false, value: separator + JSON.stringify(page.value).slice(1, -1) };
      }
    }
    return { done: true, value: undefined };
  }

  /** Read to the end or not, begun or not: from here on no more items are wanted. */
  async return(): Promise<IteratorResult<string>> {
    this.#written = 'all';
    await this.pages.return?.();
    return { done: true, value: undefined };
  }
}
