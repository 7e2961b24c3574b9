import { writeFileSync } from 'node:fs';
import { newAuthority } from '../support/self-signed-certificate.js';
import type { Answer, WebhookReceiver } from '../support/webhooks/receiver.js';
import type { Machine } from './machine.js';

/** A receiver beyond the demo needs https, so the machine has an authority of its own for it. */
export async function httpsReceiver(
  newReceiver: (
    answer?: Answer,
    identity?: ReturnType<ReturnType<typeof newAuthority>['issue']>,
  ) => Promise<WebhookReceiver>,
  machine: Machine,
): Promise<{ receiver: WebhookReceiver; settings: Record<string, string> }> {
  const authority = newAuthority('Receivers');
  const receiver = await newReceiver(undefined, authority.issue());
  const file = machine.path('root/receivers.pem');
  writeFileSync(file, authority.certificate);
  return {
    receiver,
    settings: {
      NODE_EXTRA_CA_CERTS: file,
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      WEBHOOK_ALLOWED_PORTS: String(receiver.port),
    },
  };
}

/** An integration with a key, an application and a subscription, as `integration onboard` makes them. */
export interface Tenant {
  integrationId: string;
  apiKeyId: string;
  apiKey: string;
  /** Of the application. */
  clientId: string;
  subscriptionId: string;
  signingSecret: string;
  /** A change by the platform, which its receiver is told of. */
  addClient(name: string): Promise<void>;
}

export async function newTenant(machine: Machine, receiver: WebhookReceiver): Promise<Tenant> {
  const { token } = await machine.json('token create --role platform --label "Back office"');
  const { instance } = await machine.json(`instance create "Harborlight Payroll" --token ${token}`);
  const made = await machine.json(
    `onboard "Brightledger" --instance ${instance.id} --redirect-uri https://app.example.com/callback --webhook-url ${receiver.url}`,
  );
  const addClient = async (name: string) => {
    const request = JSON.stringify({ instanceId: instance.id, name });
    await machine.run(`integration call Platform/CreateClient '${request}' --token ${token}`);
  };
  return { ...made, addClient };
}
