import { randomInt } from 'node:crypto';
import { ErrorCode, type RateLimit, ServiceError } from '../../errors/service-error.js';

/** As many as the domain lets an integration read at once: with one more, the domain would refuse it too, after more work. */
const LISTS_PER_KEY = 64;
/** Lists end by themselves soon. Not all who are refused at once are to come back at once. */
const RETRY_AFTER_SECONDS = { least: 5, below: 15 };

/** One list, from before its call until its reader has it or is gone. */
export interface ListUnderWay {
  /** What the domain said with its first message. */
  answered(rateLimit: RateLimit): void;
  end(): void;
}

interface KeyInUse {
  lists: number;
  /** What the domain said last, or undefined where a list ended before the domain had said anything. */
  rateLimit: Promise<RateLimit | undefined>;
  tell: (rateLimit: RateLimit | undefined) => void;
}

/**
 * Counts the lists that are asked for with each key, so that one too many costs the domain nothing. What such a refusal says of the rate is what the domain said last, of
 * the lists that are read; until it has said so, or where it refused them, the domain decides.
 */
export class ListsUnderWay {
  readonly #inUse = new Map<string, KeyInUse>();

  constructor(private readonly perKey = LISTS_PER_KEY) {}

  /** Counts one more, or refuses it. */
  async begin(keyHash: Uint8Array): Promise<ListUnderWay> {
    const name = Buffer.from(keyHash).toString('base64');
    const before = this.#inUse.get(name);
    if (before && before.lists >= this.perKey) {
      const rateLimit = await before.rateLimit;
      if (rateLimit) {
        throw tooMany(this.perKey, rateLimit);
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

function tooMany(lists: number, rateLimit: RateLimit): ServiceError {
  const message = `With your key ${lists} lists are being read at once. Please finish one first.`;
  return new ServiceError(ErrorCode.RATE_LIMITED, message, {
    rateLimit,
    retryAfterSeconds: randomInt(RETRY_AFTER_SECONDS.least, RETRY_AFTER_SECONDS.below),
  });
}
