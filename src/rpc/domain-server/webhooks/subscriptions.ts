import type { WebhookServiceService } from '../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { listPage } from '../../../domain/platform/listing.js';
import { subscriptionCreation, subscriptionUpdate } from '../../../domain/webhooks/subscriptions/manage.js';
import { getSubscription } from '../../../domain/webhooks/subscriptions/rows.js';
import { rotateSubscriptionSecret } from '../../../domain/webhooks/subscriptions/secrets.js';
import { remove, switchOff, switchOn } from '../../../domain/webhooks/subscriptions/status.js';
import { testSubscription } from '../../../domain/webhooks/subscriptions/test-event.js';
import type { Handlers } from '../../handlers.js';
import { assertKnown } from '../fields.js';
import { attributed, write } from '../writes.js';
import type { WebhookDependencies } from './dependencies.js';
import { fromSubscriptionStatus, toDeliveryMessage, toSubscriptionMessage } from './messages.js';

export function subscriptionHandlers(webhooks: WebhookDependencies): Handlers<WebhookServiceService> {
  const { rows } = webhooks.unitOfWork;
  return {
    listSubscriptions: async ({ instanceIntegrationId, status, ...listing }) => {
      assertKnown(status, 'status');
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
    enableSubscription: async (request, context) => {
      const { subscription, held, heldSince } = await switchOn(attributed(webhooks, context), request);
      return { subscription: toSubscriptionMessage(subscription), heldDeliveries: held, heldSince };
    },
    disableSubscription: async (request, context) => {
      const { subscription, held } = await switchOff(attributed(webhooks, context), request);
      return { subscription: toSubscriptionMessage(subscription), heldDeliveries: held };
    },
    deleteSubscription: async (request, context) => ({
      cancelledDeliveries: await remove(attributed(webhooks, context), request),
    }),
  };
}
