import type { SubscriptionId } from '../../../../generated/ids.js';
import type { WebhookServiceService } from '../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { listPage } from '../../../domain/platform/listing.js';
import { subscriptionCreation, subscriptionUpdate } from '../../../domain/webhooks/manage-subscriptions.js';
import { closeRest } from '../../../domain/webhooks/subscription-closing.js';
import { MOST_CLOSED_AT_ONCE } from '../../../domain/webhooks/subscription-deliveries.js';
import { getSubscription } from '../../../domain/webhooks/subscription-rows.js';
import { rotateSubscriptionSecret } from '../../../domain/webhooks/subscription-secrets.js';
import {
  deleteSubscription,
  disableSubscription,
  enableSubscription,
} from '../../../domain/webhooks/subscription-status.js';
import { testSubscription } from '../../../domain/webhooks/subscription-test-event.js';
import type { Handlers } from '../../handlers.js';
import { toDate } from '../operator/messages.js';
import { fromSubscriptionStatus, toDeliveryMessage, toSubscriptionMessage } from './messages.js';
import { type WebhookDependencies, write } from './write.js';

export function subscriptionHandlers(webhooks: WebhookDependencies): Handlers<WebhookServiceService> {
  return { ...readHandlers(webhooks), ...settingHandlers(webhooks), ...statusHandlers(webhooks) };
}

function readHandlers({ unitOfWork: { rows } }: WebhookDependencies): Handlers<WebhookServiceService> {
  return {
    listSubscriptions: async ({ instanceIntegrationId, status, ...listing }) => {
      const filter = { instanceIntegrationId, status: fromSubscriptionStatus(status) };
      const found = await listPage(listing, (page) => rows.subscriptions.page(page, filter));
      return { subscriptions: found.rows.map(toSubscriptionMessage), nextPageToken: found.nextPageToken };
    },
    getSubscription: async ({ subscriptionId }) => {
      const subscription = await getSubscription(rows, subscriptionId);
      const { pending, held } = await rows.deliveries.backlogOf(subscription.id);
      return {
        subscription: toSubscriptionMessage(subscription),
        pendingDeliveries: pending,
        heldDeliveries: held,
      };
    },
  };
}

function settingHandlers(webhooks: WebhookDependencies): Handlers<WebhookServiceService> {
  return {
    createSubscription: async (request, context) => {
      const creation = await subscriptionCreation(request, webhooks, webhooks.secrets);
      const { subscription, secret } = await write(webhooks, context, creation);
      return { subscription: toSubscriptionMessage(subscription), secret };
    },
    updateSubscription: async (request, context) => {
      const update = await subscriptionUpdate(request, webhooks);
      return { subscription: toSubscriptionMessage(await write(webhooks, context, update)) };
    },
    rotateSubscriptionSecret: (request, context) =>
      write(webhooks, context, async (changes) => {
        const { subscription, secret } = await rotateSubscriptionSecret(changes, webhooks.secrets, request);
        return { subscription: toSubscriptionMessage(subscription), secret };
      }),
    testSubscription: (request, context) =>
      write(webhooks, context, async (changes) => ({
        delivery: toDeliveryMessage(await testSubscription(changes, request)),
      })),
  };
}

function statusHandlers(webhooks: WebhookDependencies): Handlers<WebhookServiceService> {
  const { deliveries } = webhooks.unitOfWork.rows;
  return {
    enableSubscription: async (request, context) => {
      await closeRest(webhooks.unitOfWork, {
        id: request.subscriptionId as SubscriptionId,
        isDeleted: false,
      });
      const subscription = await write(webhooks, context, (changes) => enableSubscription(changes, request));
      // Counted behind the write, which others wait for.
      const { held } = await deliveries.backlogOf(subscription.id);
      const heldSince = held === 0 ? null : await deliveries.heldSince(subscription.id);
      return {
        subscription: toSubscriptionMessage(subscription),
        heldDeliveries: held,
        heldSince: toDate(heldSince),
      };
    },
    disableSubscription: async (request, context) => {
      const { subscription, held } = await write(webhooks, context, (changes) =>
        disableSubscription(changes, request),
      );
      // The rest is not held yet, but as good as.
      const rest = held < MOST_CLOSED_AT_ONCE ? 0 : (await deliveries.backlogOf(subscription.id)).pending;
      return { subscription: toSubscriptionMessage(subscription), heldDeliveries: held + rest };
    },
    deleteSubscription: async (request, context) => {
      const cancelled = await write(webhooks, context, (changes) => deleteSubscription(changes, request));
      if (cancelled < MOST_CLOSED_AT_ONCE) {
        return { cancelledDeliveries: cancelled };
      }
      const { pending, held } = await deliveries.backlogOf(request.subscriptionId as SubscriptionId);
      return { cancelledDeliveries: cancelled + pending + held };
    },
  };
}
