import { randomBytes } from 'node:crypto';
import {
  type ListSubscriptionsRequest,
  type Subscription,
  SubscriptionStatus,
} from '../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { WebhookServiceService as methods } from '../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { DueSignal } from '../../../../src/domain/webhooks/sending/due-signal.js';
import { SealedBox } from '../../../../src/keys/sealed-box.js';
import type { WebhookDependencies } from '../../../../src/rpc/domain-server/webhooks/dependencies.js';
import { webhookService } from '../../../../src/rpc/domain-server/webhooks/index.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { sendingUnitOfWork } from '../../../../src/store/adapters/webhooks/sending/unit-of-work.js';
import { fakeClock } from '../../../domain/clock.js';
import { newConnection } from '../../../store/adapters/webhooks/subscriptions/rig.js';
import type { DatabaseUnderTest } from '../../../support/databases.js';
import { rpcRigs, TOKENS } from '../../rig.js';

export const CALL = { requestId: 'r', deadlineMs: 20_000 };

export const EVENTS_MS = 30 * 86_400_000;

/** What a subscription is created with, but for where it belongs. */
export const WHOLE = {
  url: 'https://hooks.example.com/in',
  eventTypes: ['user.*'],
  clientIds: [],
  description: 'Payroll',
};
export const LIST: ListSubscriptionsRequest = {
  status: SubscriptionStatus.UNSPECIFIED,
  pageSize: 0,
  pageToken: '',
};
export const NO_LISTS = { eventTypes: [], clientIds: [] };

/** Serves webhook management, with an instance integration. Call it in a describe block. */
export function webhookServing(under: DatabaseUnderTest) {
  const rigs = rpcRigs();
  return async function serving(overrides: Partial<WebhookDependencies> = {}) {
    const database = await under.openMigrated();
    const clock = fakeClock();
    const unitOfWork = operatorUnitOfWork({ ...database, clock: clock.now });
    const rig = await rigs.start([
      webhookService({
        unitOfWork,
        clock: clock.now,
        eventsMs: EVENTS_MS,
        secrets: new SealedBox(randomBytes(32)),
        addressGuard: { refusalOf: async () => undefined },
        draining: new AbortController().signal,
        sending: {
          unitOfWork: sendingUnitOfWork({ ...database, clock: clock.now }),
          deliveriesDue: new DueSignal(),
        },
        ...overrides,
      }),
    ]);
    const client = rig.channel(TOKENS.operator).clientOf(methods);
    const connection = await newConnection(database);
    const create = async (fields: object = {}) => {
      const request = { ...WHOLE, instanceIntegrationId: connection.id, ...fields };
      const { subscription, secret } = await client.createSubscription(request, CALL);
      return { subscription: subscription as Subscription, secret };
    };
    return { database, clock, unitOfWork, rig, client, connection, create };
  };
}
