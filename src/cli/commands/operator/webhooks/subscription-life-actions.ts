import type {
  EnableSubscriptionResponse,
  Subscription,
} from '../../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { confirmation } from '../../confirm.js';
import { withSecret } from '../secret.js';
import type { Action } from '../session.js';
import { shownSubscription, subscriptionFacts } from './subscription-facts.js';

interface Versioned {
  expectedVersion?: string;
}

export const enable: Action<Versioned> = async (
  { webhooks, call },
  [subscriptionId = ''],
  { expectedVersion },
) => {
  const answer = await webhooks.enableSubscription({ subscriptionId, expectedVersion }, call);
  return shownSubscription(answer, missed(subscriptionId, answer));
};

export const disable: Action<Versioned> = async (
  { webhooks, call },
  [subscriptionId = ''],
  { expectedVersion },
) => {
  const answer = await webhooks.disableSubscription({ subscriptionId, expectedVersion }, call);
  const held = `Pending deliveries that are held from now on: ${answer.heldDeliveries}.`;
  return shownSubscription(answer, `${held} What happens meanwhile is held, too, and can be replayed.`);
};

export const remove: Action<Versioned & { yes?: boolean }> = async (
  { webhooks, call },
  [subscriptionId = ''],
  { yes, expectedVersion },
) => {
  const confirm = confirmation({ yes });
  if (!yes) {
    const { subscription, pendingDeliveries, heldDeliveries } = await webhooks.getSubscription(
      { subscriptionId },
      call,
    );
    const open = `${pendingDeliveries} pending and ${heldDeliveries} held deliveries`;
    await confirm(`Delete the subscription of ${subscription?.url}, and cancel ${open}?`);
  }
  const answer = await webhooks.deleteSubscription({ subscriptionId, expectedVersion }, call);
  return {
    json: answer,
    text: `Deleted. Deliveries that were cancelled with it: ${answer.cancelledDeliveries}.`,
  };
};

export const rotateSecret: Action<{ overlap?: number; yes?: boolean }> = async (
  { webhooks, call },
  [subscriptionId = ''],
  { overlap, yes },
) => {
  if (overlap === 0) {
    const confirm = confirmation({ yes });
    await confirm(`End every present secret of ${subscriptionId} at once, before the new one is in place?`);
  }
  const request = { subscriptionId, overlapSeconds: overlap };
  const answer = await webhooks.rotateSubscriptionSecret(request, call);
  const facts = subscriptionFacts(answer.subscription as Subscription);
  return { json: answer, text: withSecret(facts, 'The new signing secret', answer.secret) };
};

/** Includes the command that replays the held deliveries. */
function missed(subscriptionId: string, { heldDeliveries, heldSince }: EnableSubscriptionResponse): string {
  if (heldDeliveries === 0) {
    return 'It missed nothing.';
  }
  const since = heldSince ? ` --since ${heldSince.toISOString()}` : '';
  return [
    `Deliveries that were held meanwhile: ${heldDeliveries}. They stay held until they are replayed:`,
    `  integration event replay --subscription ${subscriptionId}${since}`,
  ].join('\n\n');
}
