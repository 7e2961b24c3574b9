import { randomInt } from 'node:crypto';
import { ErrorCode, type KeyHolder, type RateLimit, ServiceError } from '../../errors/service-error.js';

/** Random, so that the callers refused at the same time do not return together. */
const RETRY_AFTER_SECONDS = { least: 5, below: 15 };

/** As long as a request waits for the first message of a domain. */
const MOST_WAIT_MS = 15_000;

/** What the domain has reported about a key. */
interface Told extends KeyHolder {
  rateLimit?: RateLimit | undefined;
}

interface KeyInUse {
  requests: number;
  /** The latest answer of the domain. */
  told?: Told;
  /** Wakes the requests that are too many while the domain has told nothing yet, oldest first. */
  readonly waiting: Set<() => void>;
}

/**
 * Counts the requests of one kind in progress per key, so that a refusal costs the domain nothing. A refusal
 * carries the latest rate from the domain; until there is one, what is too many waits for it or for a place.
 */
export class RequestsUnderWay {
  readonly #inUse = new Map<string, KeyInUse>();

  constructor(
    private readonly perKey: number,
    /** What they do, for the refusal: `64 lists are being read at once`. */
    private readonly doing: string,
    private readonly mostWaitMs = MOST_WAIT_MS,
  ) {}

  /**
   * Refuses a request beyond the limit; counts others from before the call until the answer is sent or
   * abandoned. Calls `onWait` if the request has to wait first.
   */
  async begin(keyHash: Uint8Array, onWait: () => void = () => undefined) {
    const name = Buffer.from(keyHash).toString('base64');
    const endsAt = performance.now() + this.mostWaitMs;
    for (let key = this.#inUse.get(name); key && key.requests >= this.perKey; key = this.#inUse.get(name)) {
      if (key.told) {
        throw tooMany(`${this.perKey} ${this.doing}`, key.told);
      }
      const waitMs = endsAt - performance.now();
      if (waitMs <= 0) {
        throw new ServiceError(
          ErrorCode.UNAVAILABLE,
          'The service does not answer at present. Try again later.',
        );
      }
      onWait();
      await woken(key.waiting, waitMs);
    }
    const key: KeyInUse = this.#inUse.get(name) ?? { requests: 0, waiting: new Set() };
    this.#inUse.set(name, key);
    key.requests += 1;
    let isOver = false;
    return {
      /** Called with the first message of the domain. */
      answered: (told: Told) => {
        key.told = told;
        wake(key.waiting);
      },
      end: () => {
        if (!isOver) {
          isOver = true;
          key.requests -= 1;
          if (key.requests === 0) {
            this.#inUse.delete(name);
            wake(key.waiting);
          } else {
            wake(key.waiting, 1);
          }
        }
      },
    };
  }
}

/** Each looks again at the count: another request may have taken the free place. */
function wake(waiting: KeyInUse['waiting'], most = waiting.size): void {
  let left = most;
  for (const one of waiting) {
    if (left === 0) {
      return;
    }
    left -= 1;
    one();
  }
}

function woken(waiting: KeyInUse['waiting'], waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      waiting.delete(end);
      resolve();
    };
    const timer = setTimeout(end, Math.ceil(waitMs));
    waiting.add(end);
  });
}

function tooMany(what: string, { rateLimit, integrationId, apiKeyId }: Told): ServiceError {
  const message = `With your key ${what}. Please finish one first.`;
  return new ServiceError(ErrorCode.RATE_LIMITED, message, {
    rateLimit,
    keyHolder: { integrationId, apiKeyId },
    retryAfterSeconds: randomInt(RETRY_AFTER_SECONDS.least, RETRY_AFTER_SECONDS.below),
  });
}
