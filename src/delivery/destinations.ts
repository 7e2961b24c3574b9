/** A receiver's address, parsed. */
export interface Destination {
  origin: URL;
  /** With the query. */
  path: string;
}

const MOST_KEPT = 1_000;

/** A cache of parsed addresses. */
export class Destinations {
  readonly #known = new Map<string, Destination>();

  of(url: string): Destination {
    return this.#known.get(url) ?? this.#add(url);
  }

  #add(url: string): Destination {
    const { origin, pathname, search } = new URL(url);
    const destination = { origin: new URL(origin), path: `${pathname}${search}` };
    if (this.#known.size >= MOST_KEPT) {
      this.#known.clear();
    }
    this.#known.set(url, destination);
    return destination;
  }
}
