import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { packageRoot } from '../../../src/config/package.js';
import { sdkDriver } from './driver.js';

interface Example {
  headers: Record<string, string>;
  payload: { id: string; type: string };
}

const driver = sdkDriver();
const contract = JSON.parse(readFileSync(join(packageRoot, 'generated/asyncapi/webhooks.json'), 'utf8')) as {
  components: { messages: Record<string, { examples: Example[] }> };
};
const examples = Object.values(contract.components.messages).flatMap(
  (message) => message.examples,
) as Example[];
const [example] = examples as [Example];

const secretOf = (text: string) => `whsec_${Buffer.from(text.padEnd(32, '.')).toString('base64')}`;
const [secret, oldSecret, strange] = ['new', 'old', 'strange'].map(secretOf) as [string, string, string];
const DOCUMENTED = 'whsec_ZXhhbXBsZS1zZWNyZXQtZm9yLWRvY3VtZW50YXRpb24=';
const NOW = new Date('2026-07-01T09:00:00.500Z');

interface Signing {
  body?: string;
  secrets?: string[];
  ageSeconds?: number;
}

/** A request as the library of Standard Webhooks signs it. */
function signed({
  body = JSON.stringify(example.payload),
  secrets = [secret],
  ageSeconds = 0,
}: Signing = {}) {
  const at = new Date(NOW.getTime() - ageSeconds * 1000);
  const { id } = example.payload;
  const headers: Record<string, string> = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((each) => new Webhook(each).sign(id, at, body)).join(' '),
  };
  return { body: Buffer.from(body), headers };
}

const verify = (
  { body, headers }: { body: unknown; headers: Record<string, unknown> },
  secrets: unknown = secret,
  options = {},
) => driver.sdk.call('verifyWebhook', body, headers, secrets, { now: NOW, ...options });

describe('a genuine request', () => {
  test.each(examples.map((each) => [each.payload.type, each] as const))(
    'of the contract, %s, is the event it says',
    async (_, { headers, payload }) => {
      const now = new Date(Number(headers['webhook-timestamp']) * 1000);
      const outcome = await verify({ body: JSON.stringify(payload), headers }, DOCUMENTED, { now });
      expect(outcome.value).toEqual(payload);
    },
  );

  test.each([
    ['bytes', (body: Buffer) => new Uint8Array(body)],
    ['an ArrayBuffer', (body: Buffer) => new Uint8Array(body).buffer],
    ['a text', (body: Buffer) => body.toString()],
  ])('may be given as %s', async (_, as) => {
    const body = JSON.stringify({ ...example.payload, name: 'Bäckerei 🥐' });
    const request = signed({ body });
    const { value } = await verify({ ...request, body: as(request.body) });
    expect(value).toMatchObject({ name: 'Bäckerei 🥐' });
  });

  test('may have its headers in capital letters, or as lists', async () => {
    const { body, headers } = signed();
    const others = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    expect((await verify({ body, headers: others })).value).toEqual(example.payload);
  });

  test('of a type that this release does not know passes through', async () => {
    const event = { ...example.payload, type: 'worker.promoted', data: { rank: 7 } };
    expect((await verify(signed({ body: JSON.stringify(event) }))).value).toEqual(event);
  });
});

describe('while a secret is being replaced', () => {
  test.each([
    ['signed with both, known to who has the old one', [secret, oldSecret], [oldSecret]],
    ['signed with both, known to who has the new one', [secret, oldSecret], [secret]],
    ['signed with the old one, known to who has both', [oldSecret], [secret, oldSecret]],
  ])('a request is genuine: %s', async (_, secrets, known) => {
    expect((await verify(signed({ secrets }), known)).value).toEqual(example.payload);
  });

  test('signatures of a later version are left alone', async () => {
    const { body, headers } = signed();
    const signature = `v2,AAAA v1a,AAAA ${headers['webhook-signature']}`;
    expect(
      (await verify({ body, headers: { ...headers, 'webhook-signature': signature } })).value,
    ).toBeDefined();
  });
});

describe('a request that is not believed', () => {
  const changed = (name: string, value: string | undefined) => {
    const { body, headers } = signed();
    return { body, headers: { ...headers, [name]: value } };
  };
  const { body: bytes, headers } = signed();
  const flipped = Buffer.from(bytes);
  flipped[20] = (flipped[20] ?? 0) ^ 1;

  test.each([
    ['another secret', signed({ secrets: [strange] }), 'signature_mismatch'],
    ['one bit of the body changed', { body: flipped, headers }, 'signature_mismatch'],
    ['white space added', { body: `${bytes} `, headers }, 'signature_mismatch'],
    ['the id of another event', changed('webhook-id', 'evt_other'), 'signature_mismatch'],
    [
      'a fresher timestamp',
      changed('webhook-timestamp', String((NOW.getTime() / 1000 + 1) | 0)),
      'signature_mismatch',
    ],
    ['half a signature', changed('webhook-signature', 'v1,AAAA'), 'signature_mismatch'],
    ['a signature that is not base64', changed('webhook-signature', 'v1,§§§'), 'signature_mismatch'],
    [
      'a signature of another version only',
      changed('webhook-signature', headers['webhook-signature']?.replace('v1', 'v2')),
      'signature_mismatch',
    ],
    ['no id', changed('webhook-id', undefined), 'header_missing'],
    ['no timestamp', changed('webhook-timestamp', ''), 'header_missing'],
    ['no signature', changed('webhook-signature', undefined), 'header_missing'],
    ['a timestamp in words', changed('webhook-timestamp', 'now'), 'timestamp_malformed'],
    ['a timestamp with a sign', changed('webhook-timestamp', '-1782896401'), 'timestamp_malformed'],
    ['an age of 301 seconds', signed({ ageSeconds: 301 }), 'timestamp_too_old'],
    ['a time 301 seconds ahead', signed({ ageSeconds: -301 }), 'timestamp_too_new'],
    ['a signed body that is no JSON', signed({ body: 'hello' }), 'body_malformed'],
    ['a signed body that is no event', signed({ body: 'null' }), 'body_malformed'],
  ])('%s: %#', async (_, request, reason) => {
    expect((await verify(request)).error).toMatchObject({
      name: 'WebhookVerificationError',
      reason,
      isOurs: true,
    });
  });

  test.each([
    [300, {}],
    [-300, {}],
    [900, { toleranceSeconds: 900 }],
  ])('an age of %d seconds is borne with %j', async (ageSeconds, options) => {
    expect((await verify(signed({ ageSeconds }), secret, options)).value).toEqual(example.payload);
  });

  test.each([
    ['a secret without its prefix', signed().body, secret.slice(6)],
    ['an empty secret', signed().body, 'whsec_'],
    ['a body that was parsed', example.payload, secret],
  ])('%s is a mistake of the program, which a TypeError tells', async (_, body, given) => {
    expect((await verify({ ...signed(), body }, given)).error).toMatchObject({
      name: 'TypeError',
      isOurs: false,
    });
  });

  test('no secret at all verifies nothing', async () => {
    expect((await verify(signed(), [])).error).toMatchObject({ reason: 'signature_mismatch' });
  });
});
