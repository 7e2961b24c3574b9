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
      WEBHOOK_ALLOWED_PORTS: new URL(receiver.url).port,
    },
  };
}

/** An integration with a key, an application and a subscription, as `integration onboard` makes them. */
export interface Tenant {
  instanceId: string;
  platformToken: string;
  integrationId: string;
  apiKeyId: string;
  apiKey: string;
  /** Of the application. */
  clientId: string;
  subscriptionId: string;
  signingSecret: string;
  /** A call of the platform. */
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own answer.
  call(method: string, request: object): Promise<any>;
  /** A change by the platform, which its receiver is told of. Returns the id of the client. */
  addClient(name: string): Promise<string>;
}

export async function newTenant(machine: Machine, receiver: WebhookReceiver): Promise<Tenant> {
  const { token: platformToken } = await machine.json('token create --role platform --label "Back office"');
  const { instance } = await machine.json(`instance create "Harborlight Payroll" --token ${platformToken}`);
  const made = await machine.json(
    `onboard "Brightledger" --instance ${instance.id} --redirect-uri https://app.example.com/callback --webhook-url ${receiver.url}`,
  );
  const call = async (method: string, request: object) => {
    const typed = `integration call Platform/${method} '${JSON.stringify(request)}' --token ${platformToken}`;
    return JSON.parse(await machine.run(typed));
  };
  const addClient = async (name: string) =>
    (await call('CreateClient', { instanceId: instance.id, name })).client.id;
  return { ...made, instanceId: instance.id, platformToken, call, addClient };
}
