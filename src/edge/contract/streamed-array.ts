/** A JSON array, streamed. No generator: `return` on an unstarted one would not release the source. */
export class StreamedArray<T> implements AsyncIterableIterator<string> {
  #written: 'nothing' | 'items' | 'all' = 'nothing';

  constructor(private readonly pages: AsyncIterator<readonly T[]>) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next piece of text, one for each page that has items. */
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

  /** Releases the source, whether or not it was read to the end. */
  async return(): Promise<IteratorResult<string>> {
    this.#written = 'all';
    await this.pages.return?.();
    return { done: true, value: undefined };
  }
}
