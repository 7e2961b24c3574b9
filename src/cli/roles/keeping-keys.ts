import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KeyKeeper } from '../../keys/key-keeper.js';
import { StoreError } from '../../store/store-error.js';
import type { Log } from '../../telemetry/log.js';

const LOOK_EVERY_MS = 2_000;

/** Every process is a new node. */
export function newNodeName(): string {
  return `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
}

export interface KeepingKeys {
  /** Checks file, database and every seal now, ahead of the interval. */
  lookSoon(): void;
  stop(): Promise<void>;
}

/** Makes this domain follow a rotation of the encryption key while it serves. */
export function startKeepingKeys(
  keeper: KeyKeeper,
  log: Log,
  onOutdated: (error: StoreError) => void,
  lookEveryMs = LOOK_EVERY_MS,
): KeepingKeys {
  const ending = new AbortController();
  let wake: () => void = () => undefined;
  let isAwaited = false;
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, isAwaited ? 0 : lookEveryMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      ending.signal.addEventListener('abort', wake, { once: true });
    }).finally(() => ending.signal.removeEventListener('abort', wake));
  const running = (async () => {
    let isFailing = false;
    while (!ending.signal.aborted) {
      isAwaited = false;
      try {
        await keeper.look();
        await keeper.renew(ending.signal);
        isFailing = false;
      } catch (error) {
        if (error instanceof StoreError) {
          onOutdated(error);
        }
        const reason = (error as Error).message;
        log[isFailing ? 'debug' : 'warn']('the encryption keys could not be followed', { reason });
        isFailing = true;
      }
      if (!ending.signal.aborted) {
        await pause();
      }
    }
    await keeper.leave().catch(() => undefined);
  })();
  return {
    lookSoon: () => {
      keeper.renewSoon();
      isAwaited = true;
      wake();
    },
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}
