import { randomInt } from 'node:crypto';
import { ErrorCode, type KeyHolder, type RateLimit, ServiceError } from '../../errors/service-error.js';

/** Random, so that the callers refused at the same time do not return together. */
const RETRY_AFTER_SECONDS = { least: 5, below: 15 };

/** What the domain has reported about a key. */
interface Told extends KeyHolder {
  rateLimit?: RateLimit | undefined;
}

interface KeyInUse {
  requests: number;
  /** The latest answer of the domain, or undefined where a request ended before one. */
  told: Promise<Told | undefined>;
  tell: (told: Told | undefined) => void;
}

/**
 * Counts the requests of one kind in progress per key, so that a refusal costs the domain nothing. A refusal
 * carries the latest rate from the domain; without one, the domain decides.
 */
export class RequestsUnderWay {
  readonly #inUse = new Map<string, KeyInUse>();

  constructor(
    private readonly perKey: number,
    /** What they do, for the refusal: `64 lists are being read at once`. */
    private readonly doing: string,
  ) {}

  /** Refuses one more, or counts it from before its call until its answer is sent or abandoned. */
  async begin(keyHash: Uint8Array) {
    const name = Buffer.from(keyHash).toString('base64');
    const before = this.#inUse.get(name);
    if (before && before.requests >= this.perKey) {
      const told = await before.told;
      if (told) {
        throw tooMany(`${this.perKey} ${this.doing}`, told);
      }
    }
    const key = this.#inUse.get(name) ?? unused();
    this.#inUse.set(name, key);
    key.requests += 1;
    let isOver = false;
    return {
      /** Called with the first message of the domain. */
      answered: (told: Told) => {
        key.tell(told);
        key.told = Promise.resolve(told);
      },
      end: () => {
        if (!isOver) {
          isOver = true;
          key.tell(undefined);
          key.requests -= 1;
          if (key.requests === 0) {
            this.#inUse.delete(name);
          }
        }
      },
    };
  }
}

function unused(): KeyInUse {
  let tell: KeyInUse['tell'] = () => undefined;
  const told = new Promise<Told | undefined>((resolve) => {
    tell = resolve;
  });
  return { requests: 0, told, tell };
}

function tooMany(what: string, { rateLimit, integrationId, apiKeyId }: Told): ServiceError {
  const message = `With your key ${what}. Please finish one first.`;
  return new ServiceError(ErrorCode.RATE_LIMITED, message, {
    rateLimit,
    keyHolder: { integrationId, apiKeyId },
    retryAfterSeconds: randomInt(RETRY_AFTER_SECONDS.least, RETRY_AFTER_SECONDS.below),
  });
}
