import {
  type Delivery,
  DeliveryStatus,
  type ListDeliveriesRequest,
} from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { WebhookEvent } from '../../../generated/proto/integration/webhooks/v1/events.js';
import { SubscriptionStatus } from '../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { WebhookServiceService } from '../../../generated/proto/integration/webhooks/v1/webhooks.js';
import type { RpcChannel, RpcClient } from '../../../src/rpc/client.js';
import { call } from '../../flow/sign-on/environment.js';
import { eventually, patiently } from '../../support/eventually.js';
import type { WrittenRequest } from '../../support/webhooks/subscribers.js';
import { forEachOf } from '../patient-client.js';
import {
  type Evidence,
  grouped,
  type JudgedSubscription,
  type ToldAttempt,
  type ToldDelivery,
} from './judge.js';

const PAGE_SIZE = 500;
const AT_ONCE = 16;
const EVERYTHING: ListDeliveriesRequest = {
  eventTypes: [],
  statuses: [],
  pageSize: PAGE_SIZE,
  pageToken: '',
};

/** What the service says about its webhooks to an operator who asks. */
export class WebhookTestimony {
  readonly webhooks: RpcClient<typeof WebhookServiceService>;

  constructor(private readonly channel: RpcChannel) {
    this.webhooks = channel.clientOf(WebhookServiceService);
  }

  close(): void {
    this.channel.close();
  }

  async events(
    clientIds: readonly string[],
    types: readonly string[] = ['user.updated'],
  ): Promise<WebhookEvent[]> {
    const perClient = await Promise.all(
      clientIds.map((clientId) =>
        allPages(async (pageToken) => {
          const request = { types: [...types], clientId, pageSize: PAGE_SIZE, pageToken };
          const { events, nextPageToken } = await this.webhooks.listEvents(request, call());
          return { items: events, nextPageToken };
        }),
      ),
    );
    return perClient.flat();
  }

  /** Settles when nothing is to be sent any more. */
  async untilAllEnded(subscriptionIds: readonly string[], limitMs: number): Promise<void> {
    const isPending = async (subscriptionId: string) => {
      const request = { ...EVERYTHING, subscriptionId, statuses: [DeliveryStatus.PENDING], pageSize: 1 };
      return (await this.webhooks.listDeliveries(request, call())).deliveries.length > 0;
    };
    const open = [...subscriptionIds];
    await eventually(
      'every delivery at its end',
      async () => {
        while (
          open[0] !== undefined &&
          !(await patiently('pending deliveries', () => isPending(open[0] ?? '')))
        ) {
          open.shift();
        }
        return open.length === 0;
      },
      limitMs,
    );
  }

  async isDisabled(subscriptionId: string): Promise<boolean> {
    const { subscription } = await this.webhooks.getSubscription({ subscriptionId }, call());
    return subscription?.status === SubscriptionStatus.DISABLED;
  }

  /** The reports of the service, with the requests that the receivers recorded. */
  async evidence(
    events: Evidence['events'],
    subscribed: readonly Pick<JudgedSubscription, 'id' | 'matches' | 'losesAnswers'>[],
    requests: readonly WrittenRequest[],
  ): Promise<Evidence> {
    const records = requests.map(({ index, ...record }) => ({
      ...record,
      subscriptionId: subscribed[index]?.id ?? '',
    }));
    const seen = grouped(records);
    const deliveries = [];
    const subscriptions = [];
    for (const { id, ...subscription } of subscribed) {
      const differs = ({ eventId }: Delivery) => seen.get(`${id} ${eventId}`)?.length !== 1;
      deliveries.push(...(await this.deliveries(id, differs)));
      subscriptions.push({ id, ...subscription, isDisabled: await this.isDisabled(id) });
    }
    return { events, subscriptions, deliveries, records };
  }

  /** Everything for the subscription. Reads attempts where they matter, and assumes one success elsewhere. */
  async deliveries(
    subscriptionId: string,
    differs: (delivery: Delivery) => boolean,
  ): Promise<ToldDelivery[]> {
    const deliveries = await allPages(async (pageToken) => {
      const request = { ...EVERYTHING, subscriptionId, pageToken };
      const answer = await this.webhooks.listDeliveries(request, call());
      return { items: answer.deliveries, nextPageToken: answer.nextPageToken };
    });
    return forEachOf(deliveries, AT_ONCE, async (delivery) => ({
      subscriptionId,
      eventId: delivery.eventId,
      status: delivery.status.replace('DELIVERY_STATUS_', ''),
      attemptsBegun: delivery.attemptsBegun,
      endedAt: delivery.endedAt?.getTime(),
      attempts: isPlain(delivery) && !differs(delivery) ? [PLAIN_SUCCESS] : await this.#attempts(delivery.id),
    }));
  }

  async #attempts(deliveryId: string): Promise<ToldAttempt[]> {
    const { attempts } = await this.webhooks.getDelivery({ deliveryId }, call());
    return attempts.map(({ number, outcome, httpStatus, startedAt }) => ({
      number,
      outcome: outcome.replace('ATTEMPT_OUTCOME_', ''),
      httpStatus,
      startedAt: startedAt?.getTime(),
    }));
  }
}

const PLAIN_SUCCESS: ToldAttempt = { number: 1, outcome: 'SUCCEEDED', httpStatus: 204 };

function isPlain({ status, attemptsBegun }: Delivery): boolean {
  return status === DeliveryStatus.DELIVERED && attemptsBegun === 1;
}

async function allPages<T>(
  page: (token: string) => Promise<{ items: readonly T[]; nextPageToken: string }>,
): Promise<T[]> {
  const all: T[] = [];
  let token = '';
  do {
    const { items, nextPageToken } = await page(token);
    all.push(...items);
    token = nextPageToken;
  } while (token !== '');
  return all;
}
