import { describe, expect, test } from '@jest/globals';
import { freePorts } from '../../../support/free-ports.js';
import { webhookRigs } from '../operator/webhooks/rig.js';
import { applications, BODY, post, SECRET, signed, subscriptionsInMemory } from './rig.js';

const start = webhookRigs();
const startApplication = applications();

async function listening(...args: string[]) {
  const { handlers, created, kept } = subscriptionsInMemory();
  const rig = await start(handlers);
  const listener = rig.begin('listen', '--instance-integration', 'iin_1', ...args);
  const stream = args.includes('--json') ? listener.output : listener.errors;
  await stream.nextText(SECRET);
  const { url } = created[0] as { url: string };
  return { ...rig, listener, created, kept, url };
}

describe('integration listen', () => {
  test('subscribes a loopback address, prints the secret, verifies events and answers 204', async () => {
    const { listener, created, url } = await listening('--events', 'user.*,worker.updated');
    expect(created).toEqual([
      {
        instanceIntegrationId: 'iin_1',
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
        eventTypes: ['user.*', 'worker.updated'],
        clientIds: [],
        description: expect.stringContaining(`process ${listener.child.pid} on `),
      },
    ]);
    expect(await post(url, signed())).toMatchObject({ status: 204, text: '' });
    const line = await listener.output.nextText('user.updated');
    expect(line).toMatch(/^\d{4}-\S+ \S+Z {2}user\.updated +user usr_1 {2}verified {2}204 in \d+ ms$/);
  });

  test('passes headers and bytes on as they came, and answers what the application answers', async () => {
    const answering = { 'retry-after': '7', 'content-type': 'text/plain', 'x-own': 'matter' };
    const { passed, address } = await startApplication(503, answering, 'Not yet.');
    const { listener, url } = await listening('--forward-to', `${address}/hooks?from=here`);
    const headers = signed();
    const answer = await post(url, headers);
    expect([answer.status, answer.text]).toEqual([503, 'Not yet.']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'retry-after': '7',
      'content-type': 'text/plain',
    });
    expect(passed).toMatchObject([{ path: '/hooks?from=here', headers: { ...headers, host: address } }]);
    expect(passed[0]?.body.equals(BODY)).toBe(true);
    await listener.output.nextText('verified  503 in');
  });

  test('does not follow a redirect of the application', async () => {
    const { address } = await startApplication(302, { location: 'https://elsewhere.example.com/' });
    const { url } = await listening('--forward-to', `http://${address}/`);
    const answer = await post(url, signed());
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'https://elsewhere.example.com/']);
  });

  test('answers 502 with a sentence when there is no address to forward to', async () => {
    const [port] = await freePorts(1);
    const { listener, url } = await listening('--forward-to', `http://127.0.0.1:${port}/`);
    const sentence = `Nothing answers at http://127.0.0.1:${port}/ (ECONNREFUSED).`;
    expect(await post(url, signed())).toMatchObject({ status: 502, text: `${sentence}\n` });
    await listener.output.nextText(`: ${sentence}`);
  });

  test('prints no control characters of an event, also with --json', async () => {
    const hostile = 'user.updated\u001b[2J\u009b31m\u007f\u202egnp.\u2028';
    const body = Buffer.from(JSON.stringify({ type: hostile, entity: { type: hostile, id: hostile } }));
    const { listener, url } = await listening('--json');
    await post(url, signed(body), body);
    const line = await listener.output.nextText('"kind":"event"');
    expect(line).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(line)).toMatchObject({ type: hostile, event: { entity: { id: hostile } } });
  });

  const other = Buffer.from(String(BODY).replace('usr_1', 'usr_2'));
  test.each([
    ['a byte that was changed', () => signed(), other, 'No matching signature found'],
    ['another secret', () => signed(BODY, { secret: 'whsec_b3RoZXI=' }), BODY, 'No matching signature found'],
    [
      'an old timestamp',
      () => signed(BODY, { at: new Date(Date.now() - 400_000) }),
      BODY,
      'timestamp too old',
    ],
    ['no signature', () => ({}), BODY, 'Missing required headers'],
  ])('refuses %s, and does not forward it', async (_, headersNow, body, reason) => {
    const { passed, address } = await startApplication(200);
    const { listener, url } = await listening('--forward-to', address);
    const answer = await post(url, headersNow() as Record<string, string>, body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(reason)]);
    await listener.output.nextText('NOT VERIFIED  400 in');
    expect(passed).toEqual([]);
  });

  test('marks an event that comes again', async () => {
    const { listener, url } = await listening();
    await post(url, signed());
    await post(url, signed());
    await listener.output.nextText('verified, again  204');
    expect(listener.output.text().match(/verified/g)).toHaveLength(2);
  });

  test('as JSON is an object a line, the first with what a script needs to begin', async () => {
    const { listener, url } = await listening('--json');
    await post(url, signed());
    await listener.output.nextText('"kind":"event"');
    const [opening, event] = listener.output
      .text()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(opening).toEqual({
      kind: 'listening',
      subscriptionId: 'whs_made1',
      instanceIntegrationId: 'iin_1',
      eventTypes: ['*'],
      secret: SECRET,
    });
    expect(event).toMatchObject({
      kind: 'event',
      id: 'evt_1',
      type: 'user.updated',
      entity: { type: 'user', id: 'usr_1' },
      verified: true,
      again: false,
      status: 204,
      event: JSON.parse(String(BODY)),
    });
  });

  test('prints no control characters of a posted body', async () => {
    const { listener, url } = await listening();
    const body = Buffer.from(
      JSON.stringify({ type: 'user\x1b[2J\nfaked', entity: { type: 'a', id: 'b\x07' } }),
    );
    await post(url, signed(body), body);
    expect(await listener.output.nextText('verified')).toContain('user·[2J faked');
    expect(listener.output.text()).not.toMatch(/(?!\n)\p{Cc}/u);
  });

  test.each([
    ['another method than POST', 405, { method: 'GET' }],
    ['more than any event is', 413, { method: 'POST', body: Buffer.alloc(5 * 1_024 * 1_024) }],
  ])('refuses %s with %d', async (_, status, request) => {
    const { url } = await listening();
    expect((await fetch(url, request)).status).toBe(status);
  });
});
