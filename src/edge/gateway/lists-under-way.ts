import { randomInt } from 'node:crypto';
import { ErrorCode, type RateLimit, ServiceError } from '../../errors/service-error.js';

/** The limit of the domain for an integration: one more list would be refused there, at a higher cost. */
const LISTS_PER_KEY = 64;
/** Random, so that the callers refused at the same time do not return together. */
const RETRY_AFTER_SECONDS = { least: 5, below: 15 };

/** One list, from before its call until its answer is sent or abandoned. */
export interface ListUnderWay {
  /** Called with the first message of the domain. */
  answered(rateLimit: RateLimit): void;
  end(): void;
}

interface KeyInUse {
  lists: number;
  /** The latest answer of the domain, or undefined where a list ended before one. */
  rateLimit: Promise<RateLimit | undefined>;
  tell: (rateLimit: RateLimit | undefined) => void;
}

/**
 * Counts the lists in progress per key, so that a refusal costs the domain nothing. A refusal carries the
 * latest rate from the domain; without one, the domain decides.
 */
export class ListsUnderWay {
  readonly #inUse = new Map<string, KeyInUse>();

  constructor(
    private readonly perKey = LISTS_PER_KEY,
    private readonly doing = 'lists are being read at once',
  ) {}

  /** Counts one more, or refuses it. */
  async begin(keyHash: Uint8Array): Promise<ListUnderWay> {
    const name = Buffer.from(keyHash).toString('base64');
    const before = this.#inUse.get(name);
    if (before && before.lists >= this.perKey) {
      const rateLimit = await before.rateLimit;
      if (rateLimit) {
        throw tooMany(`${this.perKey} ${this.doing}`, rateLimit);
      }
    }
    const key = this.#inUse.get(name) ?? unused();
    this.#inUse.set(name, key);
    key.lists += 1;
    let isOver = false;
    return {
      answered: (rateLimit) => {
        key.tell(rateLimit);
        key.rateLimit = Promise.resolve(rateLimit);
      },
      end: () => {
        if (!isOver) {
          isOver = true;
          key.tell(undefined);
          key.lists -= 1;
          if (key.lists === 0) {
            this.#inUse.delete(name);
          }
        }
      },
    };
  }
}

function unused(): KeyInUse {
  let tell: KeyInUse['tell'] = () => undefined;
  const rateLimit = new Promise<RateLimit | undefined>((resolve) => {
    tell = resolve;
  });
  return { lists: 0, rateLimit, tell };
}

function tooMany(what: string, rateLimit: RateLimit): ServiceError {
  const message = `With your key ${what}. Please finish one first.`;
  return new ServiceError(ErrorCode.RATE_LIMITED, message, {
    rateLimit,
    retryAfterSeconds: randomInt(RETRY_AFTER_SECONDS.least, RETRY_AFTER_SECONDS.below),
  });
}
