import { WebhookServiceService } from '../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { serve } from '../../handlers.js';
import { deliveryHandlers } from './deliveries.js';
import type { WebhookDependencies } from './dependencies.js';
import { eventHandlers } from './events.js';
import { subscriptionHandlers } from './subscriptions.js';

export function webhookService(webhooks: WebhookDependencies) {
  return serve(WebhookServiceService, {
    ...subscriptionHandlers(webhooks),
    ...deliveryHandlers(webhooks),
    ...eventHandlers(webhooks),
  });
}
