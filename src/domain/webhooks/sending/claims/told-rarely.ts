const MOST_REMEMBERED = 10_000;

/** Limits repeated reports of the same fact. */
export class ToldRarely {
  readonly #toldAt = new Map<string, number>();

  constructor(private readonly everyMs: number) {}

  isTime(id: string, now: number): boolean {
    if (Math.abs(now - (this.#toldAt.get(id) ?? Number.NEGATIVE_INFINITY)) < this.everyMs) {
      return false;
    }
    if (this.#toldAt.size >= MOST_REMEMBERED) {
      this.#toldAt.clear();
    }
    this.#toldAt.set(id, now);
    return true;
  }
}
