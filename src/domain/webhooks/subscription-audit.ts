import type { SubscriptionId } from '../../../generated/ids.js';
import type { WebhookChanges } from './unit-of-work.js';

export function recordSubscription(
  changes: Pick<WebhookChanges, 'record'>,
  what: string,
  { id }: { id: SubscriptionId },
  attributes?: Record<string, string>,
): Promise<void> {
  const subject = { type: 'subscription', id };
  return changes.record({ type: `subscription.${what}`, subject, attributes });
}

/** Where events go, without the path and the query, in which people put secrets of theirs. */
export function originOf(url: string): string {
  return new URL(url).origin;
}
