import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { packageRoot } from '../../../src/config/package.js';

export interface Example {
  headers: Record<string, string>;
  payload: {
    id: string;
    type: string;
    occurredAt: string;
    sequence: number;
    data: { links: { self: string } };
  };
}

export interface SignedRequest {
  body: Buffer;
  headers: Record<string, string>;
}

const contract = JSON.parse(readFileSync(join(packageRoot, 'generated/asyncapi/webhooks.json'), 'utf8')) as {
  components: { messages: Record<string, { examples: Example[] }> };
};
/** One of each type. */
export const examples = Object.values(contract.components.messages).flatMap((message) => message.examples);
export const [example] = examples as [Example];
export const secretOf = (text: string) => `whsec_${Buffer.from(text.padEnd(32, '.')).toString('base64')}`;
export const [secret, oldSecret, strange] = ['new', 'old', 'strange'].map(secretOf) as [
  string,
  string,
  string,
];
/** What the examples of the contract are signed with. */
export const DOCUMENTED = 'whsec_ZXhhbXBsZS1zZWNyZXQtZm9yLWRvY3VtZW50YXRpb24=';
export const NOW_SECONDS = Date.parse('2026-07-01T09:00:00Z') / 1000;

/** A request as the library of Standard Webhooks signs it. */
export function signed({
  body = JSON.stringify(example.payload),
  secrets = [secret],
  ageSeconds = 0,
} = {}): SignedRequest {
  const at = new Date((NOW_SECONDS - ageSeconds) * 1000);
  const headers = {
    'Webhook-Id': example.payload.id,
    'Webhook-Timestamp': String(at.getTime() / 1000),
    'Webhook-Signature': secrets
      .map((each) => new Webhook(each).sign(example.payload.id, at, body))
      .join(' '),
  };
  return { body: Buffer.from(body), headers };
}

/** As the drivers take it, believed by who has the secret. */
export function parametersOf(
  { body, headers }: SignedRequest,
  secrets: string[] = [secret],
  more: object = {},
) {
  return { body: body.toString('base64'), headers, secrets, nowSeconds: NOW_SECONDS, ...more };
}
