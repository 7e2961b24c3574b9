import {
  AttemptOutcome,
  type Delivery,
  type DeliveryAttempt,
  DeliveryOrigin,
  DeliveryStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  type Subscription,
  SubscriptionDisabledReason,
  SubscriptionStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { WebhookServiceService } from '../../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { type Handlers, type ServedService, serve } from '../../../../../src/rpc/handlers.js';
import { rpcRigs, TOKENS } from '../../../../rpc/rig.js';
import { integration, runningCommands, sharedIntegration } from '../../../typed.js';

export type WebhookHandlers = Handlers<typeof WebhookServiceService>;

export const at = new Date('2026-07-01T10:00:00.250Z');

/** The webhook service with handlers in memory, and the command as an operator types it there. */
export function webhookRigs() {
  const rigs = rpcRigs();
  const begin = runningCommands();

  return async (handlers: WebhookHandlers, ...others: ServedService[]) => {
    const services = [serve(WebhookServiceService, handlers), ...others];
    const rig = await rigs.start(services);
    const settings = { INTEGRATION_ADDRESS: rig.address, INTEGRATION_TOKEN: TOKENS.operator };
    return {
      settings,
      type: (...args: string[]) => sharedIntegration(args, settings),
      /** In a process of its own. */
      typeApart: (...args: string[]) => integration(args, settings),
      begin: (...args: string[]) => begin(args, settings),
      goAway: () => rig.server.forceShutdown(),
      /** Another server at the same address. */
      comeBack: () => rigs.start(services, { address: rig.address }),
    };
  };
}

export function subscription(fields: Partial<Subscription> = {}): Subscription {
  return {
    id: 'whs_1',
    instanceIntegrationId: 'iin_1',
    url: 'https://hooks.example.com/in',
    eventTypes: ['user.updated', 'worker.*'],
    clientIds: [],
    description: 'Nightly export',
    status: SubscriptionStatus.ACTIVE,
    disabledReason: SubscriptionDisabledReason.UNSPECIFIED,
    secrets: [{ id: 'sec_1', createdAt: at }],
    createdAt: at,
    updatedAt: at,
    version: 'v1',
    ...fields,
  };
}

export function delivery(fields: Partial<Delivery> = {}): Delivery {
  return {
    id: 'whd_1',
    subscriptionId: 'whs_1',
    instanceIntegrationId: 'iin_1',
    eventId: 'evt_1',
    eventType: 'user.updated',
    origin: DeliveryOrigin.EVENT,
    status: DeliveryStatus.PENDING,
    attemptsBegun: 1,
    createdAt: at,
    ...fields,
  };
}

export function attempt(fields: Partial<DeliveryAttempt> = {}): DeliveryAttempt {
  return {
    number: 1,
    startedAt: at,
    outcome: AttemptOutcome.SUCCEEDED,
    durationMs: 12,
    httpStatus: 204,
    message: '',
    responseStart: Buffer.alloc(0),
    ...fields,
  };
}

export function failedAttempt(fields: Partial<DeliveryAttempt> = {}): DeliveryAttempt {
  return attempt({
    outcome: AttemptOutcome.STATUS_REFUSED,
    httpStatus: 500,
    message: 'The receiver answered 500.',
    ...fields,
  });
}
