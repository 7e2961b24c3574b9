import { pause } from '../../../../workflows/backoff.js';
import { closeAll } from '../../../domain/webhooks/subscriptions/closing.js';
import type { WebhookUnitOfWork } from '../../../domain/webhooks/unit-of-work.js';
import type { Log } from '../../../telemetry/log.js';

const LOOK_EVERY_MS = 1_000;

/** Holds or cancels, in batches, the open deliveries of subscriptions that were disabled or deleted. */
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
        log.info('closed open deliveries of inactive subscriptions', { deliveries });
      }
      isFailing = false;
    } catch (error) {
      const reason = (error as Error).message;
      log[isFailing ? 'debug' : 'warn']('cannot close open deliveries of inactive subscriptions', {
        reason,
      });
      isFailing = true;
    }
    await pause(lookEveryMs, signal);
  }
}
