import type { PlantedCode } from './planted-codes.js';
import { type Manner, TokenFamily } from './token-family.js';

/** With 16 clients about three at each. */
const PLACES = 5;
const SHARES = { orderly: 0.3, hostile: 0.3 };
/** A token that was spent before is never good again. */
const LATE_AFTER_MS = 61_000;

/** The families that clients work at. One that is over gives its place to another. */
export class Board {
  readonly #places: Promise<TokenFamily>[] = [];
  readonly #retired: { family: TokenFamily; at: number }[] = [];
  #made = 0;
  lateUses = 0;

  constructor(
    private readonly newCode: (number: number) => Promise<PlantedCode>,
    private readonly random: () => number,
    private readonly slow: (id: string) => void,
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
    if (!oldest || performance.now() - oldest.at <= LATE_AFTER_MS) {
      return undefined;
    }
    this.lateUses += 1;
    return this.#retired.shift()?.family;
  }

  #retire(family: TokenFamily): void {
    if (family.spent !== undefined) {
      this.#retired.push({ family, at: performance.now() });
    }
  }

  async #another(): Promise<TokenFamily> {
    this.#made += 1;
    const [number, manner] = [this.#made, mannerAt(this.random())];
    const fresh = await this.newCode(number);
    if (manner !== 'orderly') {
      this.slow(manner === 'hasty' ? fresh.grantId : fresh.hash);
    }
    return new TokenFamily(`family ${number}`, fresh, manner);
  }
}

function mannerAt(chance: number): Manner {
  if (chance < SHARES.orderly) {
    return 'orderly';
  }
  return chance < SHARES.orderly + SHARES.hostile ? 'hostile' : 'hasty';
}
