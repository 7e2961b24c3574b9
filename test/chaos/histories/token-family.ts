import type { FreshCode, Tokens } from '../../attacks/attacked-service.js';
import type { Kind, Outcome } from './history.js';

/**
 * Orderly clients use a token after the operations with others have ended, and repeat only the last one;
 * hostile ones use any, at once; hasty ones use the newest, without a wait for others that do.
 */
export type Manner = 'orderly' | 'hostile' | 'hasty';

export interface Step {
  kind: Kind;
  /** The code or a token. */
  shown: string;
}

/** So that the checker has few orders to try. */
const MOST_OPERATIONS = 40;
const MOST_UNKNOWN = 8;
/** After a refusal there is little left to see. */
const MOST_REFUSED = 5;

/** One code with its tokens, as far as clients were told of them. */
export class TokenFamily {
  readonly refreshTokens: string[] = [];
  readonly #accessTokens: string[] = [];
  readonly #underWay = new Map<Promise<unknown>, Step>();
  readonly #seen: Record<Outcome, number> = { granted: 0, refused: 0, unknown: 0 };

  constructor(
    readonly name: string,
    readonly fresh: FreshCode,
    private readonly manner: Manner,
  ) {}

  get isOver(): boolean {
    const { granted, refused, unknown } = this.#seen;
    const isLong = granted + refused + unknown >= MOST_OPERATIONS;
    return isLong || refused >= MOST_REFUSED || unknown >= MOST_UNKNOWN;
  }

  /** Of a family that was not refused anything, the token before the newest, which can be used too late. */
  get spent(): string | undefined {
    return this.#seen.refused === 0 ? this.refreshTokens.at(-2) : undefined;
  }

  /** Undefined where clients of this manner wait for an answer first. */
  next(random: () => number): Step | undefined {
    const newest = this.refreshTokens.at(-1);
    if (newest === undefined) {
      const isAlone = this.#underWay.size === 0;
      const mayRace = this.manner === 'hostile' && random() < 0.5;
      return isAlone || mayRace ? { kind: 'redeem', shown: this.fresh.code } : undefined;
    }
    switch (this.manner) {
      case 'orderly':
        return this.#orderly(newest, random);
      case 'hostile':
        return this.#hostile(newest, random);
      default:
        return this.#hasty(newest, random);
    }
  }

  /** Does it, and lets others wait for its end. */
  async doing<T>(step: Step, work: Promise<T>): Promise<T> {
    this.#underWay.set(work, step);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async untilOneEnds(): Promise<void> {
    await Promise.race(this.#underWay.keys());
  }

  /** Its name in the history: the code, or the number of the token. */
  nameOf({ kind, shown }: Step): string {
    switch (kind) {
      case 'redeem':
        return 'code';
      case 'userinfo':
        return `a${this.#accessTokens.indexOf(shown) + 1}`;
      default:
        return this.#nameOfRefreshToken(shown);
    }
  }

  /** What came of an operation; the name of the refresh token that it gave. */
  learn(outcome: Outcome, tokens?: Tokens): string | undefined {
    this.#seen[outcome] += 1;
    if (!tokens) {
      return undefined;
    }
    const { access_token: accessToken, refresh_token: refreshToken } = tokens;
    this.#accessTokens.push(accessToken);
    if (!this.refreshTokens.includes(refreshToken)) {
      this.refreshTokens.push(refreshToken);
    }
    return this.#nameOfRefreshToken(refreshToken);
  }

  userinfo(random: () => number): Step {
    return { kind: 'userinfo', shown: one(this.#accessTokens, random) };
  }

  #nameOfRefreshToken(token: string): string {
    return `r${this.refreshTokens.indexOf(token) + 1}`;
  }

  #orderly(newest: string, random: () => number): Step {
    const chance = random();
    const wanted = chance < 0.45 ? newest : chance < 0.6 ? this.refreshTokens.at(-2) : undefined;
    const isFree = [...this.#underWay.values()].every(
      ({ kind, shown }) => kind === 'userinfo' || shown === wanted,
    );
    return wanted !== undefined && isFree ? { kind: 'refresh', shown: wanted } : this.userinfo(random);
  }

  /** After a refusal the access token shows whether the family is over. */
  #hasty(newest: string, random: () => number): Step {
    return random() < (this.#seen.refused === 0 ? 0.9 : 0.5)
      ? { kind: 'refresh', shown: newest }
      : this.userinfo(random);
  }

  #hostile(newest: string, random: () => number): Step {
    const chance = random();
    if (chance < 0.05) {
      return { kind: 'revoke', shown: one(this.refreshTokens, random) };
    }
    if (chance < 0.1) {
      return { kind: 'redeem', shown: this.fresh.code };
    }
    if (chance < 0.5) {
      return { kind: 'refresh', shown: newest };
    }
    return chance < 0.65
      ? { kind: 'refresh', shown: one(this.refreshTokens.slice(-3), random) }
      : this.userinfo(random);
  }
}

function one(items: readonly string[], random: () => number): string {
  return items[Math.floor(random() * items.length)] as string;
}
