import {
  AttemptOutcome,
  DeliveryStatus,
  type GetDeliveryResponse,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { pause } from '../../../../../workflows/backoff.js';
import { Unfinished } from '../../errors.js';
import { printableLine } from '../../output/printable.js';
import type { Action, Session } from '../session.js';
import { deliveryReport, shownUnderWay } from './delivery-facts.js';

/** Slightly longer than the longest attempt. */
const PATIENCE_MS = 70_000;
const INTERVAL_MS = 200;

/** Reports the outcome of the first attempt, unless told not to wait. */
export const test: Action<{ wait: boolean }> = async (session, [subscriptionId], { event, wait }) => {
  const answer = await session.webhooks.testSubscription({ subscriptionId, eventType: event });
  if (!wait) {
    return shownUnderWay(answer, 'It is on its way.');
  }
  const report = await afterFirstAttempt(session, answer.delivery?.id ?? '');
  return { json: report, text: deliveryReport(report), failure: failureOf(report) };
};

async function afterFirstAttempt({ webhooks }: Session, deliveryId: string): Promise<GetDeliveryResponse> {
  const impatientAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const report = await webhooks.getDelivery({ deliveryId });
    const hasEnded = report.attempts.some(({ outcome }) => outcome !== AttemptOutcome.UNSPECIFIED);
    const isOpen = report.delivery?.status === DeliveryStatus.PENDING;
    if (hasEnded || !isOpen || performance.now() > impatientAt) {
      return report;
    }
    await pause(INTERVAL_MS);
  }
}

function failureOf({ delivery, attempts: [attempt] }: GetDeliveryResponse): Error | undefined {
  if (attempt?.outcome === AttemptOutcome.SUCCEEDED || delivery?.status === DeliveryStatus.DELIVERED) {
    return undefined;
  }
  const reason = attempt ? printableLine(attempt.message) : 'No attempt has ended. Does the worker run?';
  return new Unfinished(`The test event was not acknowledged. ${reason}`);
}
