import { createSecretKey, randomBytes } from 'node:crypto';
import { afterEach } from '@jest/globals';
import { exampleEvents } from '../../generated/asyncapi/examples.js';
import type { DeliveryBody } from '../../generated/proto/integration/webhooks/v1/sending.js';
import { AddressGuard } from '../../src/delivery/address-guard.js';
import { HttpSender, type SenderOptions } from '../../src/delivery/sender.js';

export const VERSION = '1.2.3';
export const secret = randomBytes(32);
export const signingKey = createSecretKey(secret);

const example = exampleEvents['user.updated'];
const event = { ...example, data: { ...example.data, firstName: 'Zoë 🦊' } };

export const body: DeliveryBody = {
  eventId: event.id,
  eventType: event.type,
  body: Buffer.from(JSON.stringify(event)),
};

/** As in the demo, where local receivers are allowed. Call it in a describe block. */
export function senders(): (options?: Partial<SenderOptions>) => HttpSender {
  const opened: HttpSender[] = [];
  afterEach(() => {
    for (const sender of opened.splice(0)) {
      sender.close();
    }
  });
  return (options = {}) => {
    const sender = new HttpSender({
      guard: new AddressGuard({ allowedNetworks: [], allowLoopback: true }),
      // For what hangs: no test with this limit waits for its end.
      timeoutMs: 30_000,
      version: VERSION,
      ...options,
    });
    opened.push(sender);
    return sender;
  };
}

export function targetAt(port: number, path = '/hook') {
  return { url: `http://127.0.0.1:${port}${path}`, signingSecrets: [signingKey] };
}
