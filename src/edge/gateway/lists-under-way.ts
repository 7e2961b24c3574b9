import { randomInt } from 'node:crypto';
import { ErrorCode, type KeyHolder, type RateLimit, ServiceError } from '../../errors/service-error.js';

/** The limit of the domain for an integration: one more list would be refused there, at a higher cost. */
const LISTS_PER_KEY = 64;
/** Random, so that the callers refused at the same time do not return together. */
const RETRY_AFTER_SECONDS = { least: 5, below: 15 };

/** What the domain has reported about a key. */
interface Told extends KeyHolder {
  rateLimit?: RateLimit | undefined;
}

/** One list, from before its call until its answer is sent or abandoned. */
export interface ListUnderWay {
  /** Called with the first message of the domain. */
  answered(told: Told): void;
  end(): void;
}

interface KeyInUse {
  lists: number;
  /** The latest answer of the domain, or undefined where a list ended before one. */
  told: Promise<Told | undefined>;
  tell: (told: Told | undefined) => void;
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
      const told = await before.told;
      if (told) {
        throw tooMany(`${this.perKey} ${this.doing}`, told);
      }
    }
    const key = this.#inUse.get(name) ?? unused();
    this.#inUse.set(name, key);
    key.lists += 1;
    let isOver = false;
    return {
      answered: (told) => {
        key.tell(told);
        key.told = Promise.resolve(told);
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
  const told = new Promise<Told | undefined>((resolve) => {
    tell = resolve;
  });
  return { lists: 0, told, tell };
}

function tooMany(what: string, { rateLimit, integrationId, apiKeyId }: Told): ServiceError {
  const message = `With your key ${what}. Please finish one first.`;
  return new ServiceError(ErrorCode.RATE_LIMITED, message, {
    rateLimit,
    keyHolder: { integrationId, apiKeyId },
    retryAfterSeconds: randomInt(RETRY_AFTER_SECONDS.least, RETRY_AFTER_SECONDS.below),
  });
}
