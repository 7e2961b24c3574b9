import { pause } from '../../../workflows/backoff.js';
import { closeAll } from '../../domain/webhooks/subscription-closing.js';
import type { WebhookUnitOfWork } from '../../domain/webhooks/unit-of-work.js';
import type { Log } from '../../telemetry/log.js';

const LOOK_EVERY_MS = 1_000;

/** Holds or cancels, a little at a time, what subscriptions left open that were disabled or deleted: by this domain, by another one, or before it was killed. */
export function startClosingSubscriptions(
  unitOfWork: WebhookUnitOfWork,
  log: Log,
  lookEveryMs = LOOK_EVERY_MS,
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const running = keepClosing(unitOfWork, log, lookEveryMs, ending.signal);
  return {
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}

async function keepClosing(
  unitOfWork: WebhookUnitOfWork,
  log: Log,
  lookEveryMs: number,
  signal: AbortSignal,
): Promise<void> {
  let isFailing = false;
  while (!signal.aborted) {
    try {
      const deliveries = await closeAll(unitOfWork, signal);
      if (deliveries > 0) {
        log.info('deliveries of subscriptions that are active no more are closed', { deliveries });
      }
      isFailing = false;
    } catch (error) {
      const reason = (error as Error).message;
      log[isFailing ? 'debug' : 'warn']('deliveries of subscriptions that are active no more stay open', {
        reason,
      });
      isFailing = true;
    }
    await pause(lookEveryMs, signal);
  }
}
