import { closeAll } from '../../../domain/webhooks/subscriptions/closing.js';
import type { WebhookUnitOfWork } from '../../../domain/webhooks/unit-of-work.js';
import type { Log } from '../../../telemetry/log.js';
import { type Running, repeating } from './running.js';

const LOOK_EVERY_MS = 1_000;
const FAILURE = 'cannot close open deliveries of inactive subscriptions';

/** Holds or cancels, in batches, the open deliveries of subscriptions that were disabled or deleted. */
export function startClosingSubscriptions(unitOfWork: WebhookUnitOfWork, log: Log): Running {
  return repeating(LOOK_EVERY_MS, log, FAILURE, async (ending) => {
    const deliveries = await closeAll(unitOfWork, ending);
    if (deliveries > 0) {
      log.info('closed open deliveries of inactive subscriptions', { deliveries });
    }
  });
}
