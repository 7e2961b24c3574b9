import type { SubscriptionId } from '../../../../generated/ids.js';
import type { WebhookChanges } from '../unit-of-work.js';

export function auditSubscription(
  changes: Pick<WebhookChanges, 'audit' | 'actor'>,
  what: string,
  { id }: { id: SubscriptionId },
  attributes?: Record<string, string>,
): Promise<void> {
  const subject = { type: 'subscription', id };
  return changes.audit(changes.actor, { type: `subscription.${what}`, subject, attributes });
}

/** Without path and query, which may contain secrets. */
export function originOf(url: string): string {
  return new URL(url).origin;
}
