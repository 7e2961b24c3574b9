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
  /** The latest answer of the domain. */
  told?: Told;
  /** Wakes the requests that are too many while the domain has told nothing yet. */
  readonly waiting: (() => void)[];
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
  ) {}

  /** Refuses one more, or counts it from before its call until its answer is sent or abandoned. */
  async begin(keyHash: Uint8Array) {
    const name = Buffer.from(keyHash).toString('base64');
    for (let key = this.#inUse.get(name); key && key.requests >= this.perKey; key = this.#inUse.get(name)) {
      if (key.told) {
        throw tooMany(`${this.perKey} ${this.doing}`, key.told);
      }
      const { waiting } = key;
      await new Promise<void>((wake) => waiting.push(wake));
    }
    const key: KeyInUse = this.#inUse.get(name) ?? { requests: 0, waiting: [] };
    this.#inUse.set(name, key);
    key.requests += 1;
    let isOver = false;
    return {
      /** Called with the first message of the domain. */
      answered: (told: Told) => {
        key.told = told;
        wakeAll(key);
      },
      end: () => {
        if (!isOver) {
          isOver = true;
          key.requests -= 1;
          if (key.requests === 0) {
            this.#inUse.delete(name);
          }
          wakeAll(key);
        }
      },
    };
  }
}

/** Each looks again at the count: of several, the first may have taken the free place. */
function wakeAll({ waiting }: KeyInUse): void {
  for (const wake of waiting.splice(0)) {
    wake();
  }
}

function tooMany(what: string, { rateLimit, integrationId, apiKeyId }: Told): ServiceError {
  const message = `With your key ${what}. Please finish one first.`;
  return new ServiceError(ErrorCode.RATE_LIMITED, message, {
    rateLimit,
    keyHolder: { integrationId, apiKeyId },
    retryAfterSeconds: randomInt(RETRY_AFTER_SECONDS.least, RETRY_AFTER_SECONDS.below),
  });
}
