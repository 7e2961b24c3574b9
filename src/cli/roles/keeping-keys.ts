import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { pause } from '../../../workflows/backoff.js';
import type { KeyKeeper } from '../../keys/key-keeper.js';
import { StoreError } from '../../store/store-error.js';
import type { Check } from '../../telemetry/health.js';
import type { Log } from '../../telemetry/log.js';
import { failureLog, type Running, running } from './running.js';

const LOOK_EVERY_MS = 2_000;

/** Every process is a new node. */
export function newNodeName(): string {
  return `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
}

export interface KeepingKeys extends Running {
  /** Checks file, database and every seal now, ahead of the interval. */
  lookSoon(): void;
}

/** Makes this domain follow a rotation of the encryption key while it serves. */
export function startKeepingKeys(
  keeper: KeyKeeper,
  log: Log,
  onOutdated: (error: StoreError) => void,
): KeepingKeys {
  let wake = new AbortController();
  const attempt = failureLog(log, 'the encryption keys could not be followed', (error) => {
    if (error instanceof StoreError) {
      onOutdated(error);
    }
  });
  const { stop } = running(async (ending) => {
    ending.addEventListener('abort', () => wake.abort());
    while (!ending.aborted) {
      wake = new AbortController();
      await attempt(async () => {
        await keeper.look();
        await keeper.renew(ending);
      });
      if (!ending.aborted) {
        await pause(LOOK_EVERY_MS, wake.signal);
      }
    }
    await keeper.leave().catch(() => undefined);
  });
  return {
    lookSoon: () => {
      keeper.renewSoon();
      wake.abort();
    },
    stop,
  };
}

/** A node that was not heard from during a rotation may lack the key that the others seal with. */
export function encryptionKeyCheck(keeper: { readonly lacking: string | undefined }): Check {
  return {
    name: 'encryption-key',
    required: true,
    probe: () => {
      const { lacking } = keeper;
      return lacking === undefined
        ? { ok: true }
        : { ok: false, detail: `The key file lacks ${lacking}, the key in use; copy it from another node.` };
    },
  };
}
