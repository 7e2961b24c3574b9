import type { FreshCode } from '../../attacks/attacked-service.js';
import { TokenFamily } from './token-family.js';

/** With 50 clients about five at each. */
const PLACES = 10;
const ORDERLY_SHARE = 0.6;
/** A token that was spent before is never good again. */
const LATE_AFTER_MS = 11_000;

/** The families that clients work at. One that is over gives its place to another. */
export class Board {
  readonly #places: Promise<TokenFamily>[] = [];
  readonly #retired: { family: TokenFamily; at: number }[] = [];
  #made = 0;

  constructor(
    private readonly newCode: (number: number) => Promise<FreshCode>,
    private readonly random: () => number,
  ) {}

  async pick(random: () => number): Promise<TokenFamily> {
    for (;;) {
      const place = Math.floor(random() * PLACES);
      this.#places[place] ??= this.#another();
      const present = this.#places[place];
      const family = await present;
      if (!family.isOver) {
        return family;
      }
      if (this.#places[place] === present) {
        this.#places[place] = this.#another();
        this.#retire(family);
      }
    }
  }

  /** A family that rests for longer than a spent token is answered again; each is given once. */
  rested(): TokenFamily | undefined {
    const [oldest] = this.#retired;
    return oldest && performance.now() - oldest.at > LATE_AFTER_MS
      ? this.#retired.shift()?.family
      : undefined;
  }

  #retire(family: TokenFamily): void {
    if (family.spent !== undefined) {
      this.#retired.push({ family, at: performance.now() });
    }
  }

  async #another(): Promise<TokenFamily> {
    this.#made += 1;
    const [number, manner] = [this.#made, this.random() < ORDERLY_SHARE ? 'orderly' : 'hostile'] as const;
    return new TokenFamily(`family ${number}`, await this.newCode(number), manner);
  }
}
