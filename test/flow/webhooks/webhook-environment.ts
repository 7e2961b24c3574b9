import {
  AttemptOutcome,
  type Delivery,
  DeliveryStatus,
  type GetDeliveryResponse,
} from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import type {
  CreateSubscriptionRequest,
  Subscription,
} from '../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { WebhookServiceService } from '../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import type { RpcClient } from '../../../src/rpc/client.js';
import { eventually } from '../../support/eventually.js';
import { type ServiceProcess, type StartOptions, serviceProcesses } from '../../support/service-process.js';
import {
  type Answer,
  accept,
  type ReceivedWebhook,
  type WebhookReceiver,
  webhookReceivers,
} from '../../support/webhooks/receiver.js';
import { DemoEnvironment } from '../sign-on/demo-environment.js';
import { call, duringTests } from '../sign-on/environment.js';

const [brightledger, shiftwise] = demoSeed.integrations.map(({ connections }) =>
  connections.map(({ id }) => id),
) as [[string, string], [string]];

/** Brightledger is connected with Harborlight, and with Juniper not yet; Shiftwise with Juniper. */
export const connectionIds = {
  harborlight: brightledger[0],
  juniperUnconfigured: brightledger[1],
  juniper: shiftwise[0],
};

const ENDED = new Set([DeliveryStatus.DELIVERED, DeliveryStatus.EXHAUSTED, DeliveryStatus.HELD]);

/** A subscription and who listens at its address. */
export interface Subscribed {
  subscription: Subscription;
  secret: string;
  receiver: WebhookReceiver;
}

type Wanted = Partial<CreateSubscriptionRequest>;

/** A demo environment with a client of the webhook service. */
export class WebhookEnvironment extends DemoEnvironment {
  readonly webhooks: RpcClient<typeof WebhookServiceService>;

  constructor(
    service: ServiceProcess,
    private readonly newReceiver: (answer?: Answer) => Promise<WebhookReceiver>,
  ) {
    super(service);
    this.webhooks = this.operatorChannel.clientOf(WebhookServiceService);
  }

  /** To all events of Harborlight, unless it is asked for otherwise. */
  async subscribe(wanted: Wanted = {}, answer: Answer = accept): Promise<Subscribed> {
    const receiver = await this.newReceiver(answer);
    return { ...(await this.subscribeAddress(receiver.url, wanted)), receiver };
  }

  async subscribeAddress(url: string, wanted: Wanted = {}): Promise<Omit<Subscribed, 'receiver'>> {
    const instanceIntegrationId = connectionIds.harborlight;
    const request = {
      instanceIntegrationId,
      url,
      eventTypes: ['*'],
      clientIds: [],
      description: '',
      ...wanted,
    };
    const { subscription, secret } = await this.webhooks.createSubscription(request, call());
    if (!subscription) {
      throw new Error('Nothing was subscribed.');
    }
    return { subscription, secret };
  }

  async unsubscribe({ subscription }: Pick<Subscribed, 'subscription'>): Promise<void> {
    await this.webhooks.deleteSubscription({ subscriptionId: subscription.id }, call());
  }

  /** The cheapest thing that happens: a client that is new to its instance. Answers its id. */
  async newClient(instanceId: string, name = 'Fennimore Tea'): Promise<string> {
    const { client } = await this.platform.createClient({ instanceId, name }, call());
    return client?.id ?? '';
  }

  /** All of a subscription, newest first. */
  async deliveries({ subscription }: Pick<Subscribed, 'subscription'>): Promise<Delivery[]> {
    const request = { subscriptionId: subscription.id, eventTypes: [], statuses: [], pageSize: 500 };
    return (await this.webhooks.listDeliveries({ ...request, pageToken: '' }, call())).deliveries;
  }

  delivery(deliveryId: string): Promise<GetDeliveryResponse> {
    return this.webhooks.getDelivery({ deliveryId }, call());
  }

  /** The newest delivery of the event to the subscription, as soon as it has come to its end. */
  ended(to: Pick<Subscribed, 'subscription'>, eventId: string): Promise<GetDeliveryResponse> {
    return this.#newest(to, eventId, 'the end of a delivery', ({ delivery }) =>
      ENDED.has(delivery?.status as DeliveryStatus),
    );
  }

  /** The same, as soon as the end of an attempt is recorded. */
  attempted(to: Pick<Subscribed, 'subscription'>, eventId?: string): Promise<GetDeliveryResponse> {
    return this.#newest(to, eventId, 'a recorded attempt', ({ attempts }) =>
      attempts.some(({ outcome }) => outcome !== AttemptOutcome.UNSPECIFIED),
    );
  }

  /** Reads where the link of an event leads, with the receiver's key. */
  async follow({ event }: Pick<ReceivedWebhook, 'event'>): Promise<Response> {
    const path = event.data.links.self as string;
    const connectionId = path.split('/')[3] ?? '';
    const owner = this.service
      .demo()
      .apiKeys.find(({ instanceIntegrationIds }) => instanceIntegrationIds.includes(connectionId));
    return fetch(`${this.service.gatewayUrl}${path}`, { headers: { 'x-api-key': owner?.key ?? '' } });
  }

  #newest(
    to: Pick<Subscribed, 'subscription'>,
    eventId: string | undefined,
    what: string,
    fits: (answer: GetDeliveryResponse) => boolean,
  ): Promise<GetDeliveryResponse> {
    return eventually(what, async () => {
      const found = (await this.deliveries(to)).find(
        (delivery) => eventId === undefined || delivery.eventId === eventId,
      );
      const answer = found && (await this.delivery(found.id));
      return answer && fits(answer) && answer;
    });
  }
}

/** One for the tests of a file; the options may wait for what is started before it. */
export function webhookEnvironment(options: () => StartOptions = () => ({})) {
  const services = serviceProcesses();
  const newReceiver = webhookReceivers();
  return duringTests(async () => new WebhookEnvironment(await services.start(options()), newReceiver));
}
