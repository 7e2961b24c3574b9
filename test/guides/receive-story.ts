import { instanceIds } from '../flow/sign-on/demo-environment.js';
import { call } from '../flow/sign-on/environment.js';
import { connectionIds } from '../flow/webhooks/webhook-environment.js';
import { freePorts } from '../support/free-ports.js';
import type { Story } from './stories.js';

/** Larger than any receiver accepts. */
const LARGE = '.'.repeat(5 * 2 ** 20);

/** A large request, a new client, the same event again, and a forged request. The secret is rotated first. */
export const receiveWebhooks: Story = async ({ demo, linesOf, start }) => {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/events`;
  // At an instance of which no page tells how many clients it has.
  const wanted = { instanceIntegrationId: connectionIds.juniper, eventTypes: ['client.created'] };
  const subscribed = await demo.subscribeAddress(url, wanted);
  const subscriptionId = subscribed.subscription.id;
  const replaced = await demo.webhooks.rotateSubscriptionSecret({ subscriptionId }, call());
  const secrets = `${replaced.secret},${subscribed.secret}`;
  const program = await start({ WEBHOOK_SECRETS: secrets, PORT: String(port) });
  await program.printed(1);
  // A receiver that refuses the length may close the connection before the answer is read.
  const large = await fetch(url, { method: 'POST', body: LARGE }).then(
    ({ status }) => status,
    () => 413,
  );

  await demo.newClient(instanceIds.juniper);
  await program.printed(2);
  const [delivery] = await demo.deliveries(subscribed);
  await demo.webhooks.resendDelivery({ deliveryId: delivery?.id ?? '' }, call());
  await program.printed(3);

  const headers = {
    'webhook-id': delivery?.eventId ?? '',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  };
  const forged = await fetch(url, { method: 'POST', headers, body: '{}' });
  const output = await program.printed(linesOf(0));
  await demo.unsubscribe(subscribed);
  await program.stop();
  const answers = `A large request was answered ${large}, a forged one ${forged.status}.`;
  return [large === 413 && forged.status === 400 ? output : `${answers}\n${output}`];
};
