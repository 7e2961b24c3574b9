import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type {
  CreateSubscriptionRequest,
  Subscription,
} from '../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { listenOnLoopback } from '../../../support/loopback.js';
import { subscription, type WebhookHandlers } from '../operator/webhooks/rig.js';

export const SECRET = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;

/** Subscriptions in memory, as far as a listener needs them. */
export function subscriptionsInMemory(present: readonly Subscription[] = []) {
  const kept = new Map(present.map((one) => [one.id, one]));
  const created: CreateSubscriptionRequest[] = [];
  const existing = (id: string) => {
    const found = kept.get(id);
    if (!found) {
      throw new ServiceError(ErrorCode.SUBSCRIPTION_NOT_FOUND, 'There is no such subscription.');
    }
    return found;
  };
  const handlers: WebhookHandlers = {
    listSubscriptions: async () => ({ subscriptions: [...kept.values()], nextPageToken: '' }),
    createSubscription: async (request) => {
      created.push(request);
      const made = subscription({ ...request, id: `whs_made${created.length}` });
      kept.set(made.id, made);
      return { subscription: made, secret: SECRET };
    },
    getSubscription: async ({ subscriptionId }) => ({
      subscription: existing(subscriptionId),
      pendingDeliveries: 0,
      heldDeliveries: 0,
    }),
    deleteSubscription: async ({ subscriptionId }) => {
      existing(subscriptionId);
      kept.delete(subscriptionId);
      return { cancelledDeliveries: 0 };
    },
  };
  return { handlers, kept, created };
}

export const BODY = Buffer.from(
  '{"id":"evt_1","type":"user.updated","specVersion":1,"entity":{"type":"user","id":"usr_1"},"data":{"name":"Zo\u00eb"}}',
);

/** As the service signs it. */
export function signed(body = BODY, { secret = SECRET, at = new Date(), id = 'evt_1' } = {}) {
  return {
    'content-type': 'application/json',
    'user-agent': 'IntegrationService-Webhooks/1.4.0',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

export async function post(url: string, headers: Record<string, string>, body = BODY) {
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

export interface Passed {
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An integrator's own application. Call it where a group of tests is described. */
export function applications() {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });
  return async (status: number, headers: Record<string, string> = {}, answer = '') => {
    const passed: Passed[] = [];
    const server = createServer(async (request, response) => {
      passed.push({ path: request.url, headers: request.headers, body: await buffer(request) });
      response.writeHead(status, headers).end(answer);
    });
    servers.push(server);
    return { passed, address: `127.0.0.1:${await listenOnLoopback(server)}` };
  };
}
