import { describe, expect, test } from '@jest/globals';
import type { Driven } from './line-driver.js';
import {
  DOCUMENTED,
  type Example,
  example,
  examples,
  oldSecret,
  parametersOf,
  type SignedRequest,
  secret,
  signed,
  strange,
} from './signed-requests.js';

function changed(name: string, change: (value: string) => string): SignedRequest {
  const { body, headers } = signed();
  return { body, headers: { ...headers, [name]: change(headers[name] as string) } };
}

/** Every member that the contract describes, by its path; `null` where it can be that. */
function members(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, member) => (isTime(member) ? new Date(member).toISOString() : member)),
  );
}

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(value);

const genuine = { event: { id: example.payload.id } };

/** Whether it recognizes the event type. TypeScript leaves that to the compiler. */
const tells = ({ isKnown = null }: { isKnown?: boolean | null }, expected: boolean) =>
  isKnown === null || isKnown === expected;

export function describeWebhooks(driver: Driven): void {
  const verify = (...request: Parameters<typeof parametersOf>) => driver.sdk.verify(parametersOf(...request));

  describe('a genuine request', () => {
    test.each(examples.map((each) => [each.payload.type, each] as const))(
      'of the contract, %s, is the event it says, each member in its place',
      async (_, { headers, payload }) => {
        const request = { body: Buffer.from(JSON.stringify(payload)), headers };
        const nowSeconds = Number(headers['webhook-timestamp']);
        const { value, error } = await verify(request, [DOCUMENTED], { nowSeconds });
        expect(error).toBeUndefined();
        expect([tells(value, true), value.unmapped ?? []]).toEqual([true, []]);
        expect(members(value.event)).toMatchObject(payload);
      },
    );

    test('of a type that this release does not know passes through', async () => {
      const event = { ...example.payload, type: 'worker.promoted', data: { rank: 7 } };
      const { value } = await verify(signed({ body: JSON.stringify(event) }));
      expect(tells(value, false)).toBe(true);
      expect(members(value.event)).toMatchObject(event);
    });

    test.each([example.payload.type, 'worker.promoted'])(
      'of the type %s tells whether the operator sent it to try the subscription',
      async (type) => {
        for (const mark of [{}, { test: true }]) {
          const { value } = await verify(
            signed({ body: JSON.stringify({ ...example.payload, type, ...mark }) }),
          );
          expect(value.isTest).toBe('test' in mark);
        }
      },
    );

    test.each<[string, object]>([
      ['data of another type', { dataVersion: 2, data: [1] }],
      ['data with other members', { dataVersion: 2, data: { worker: { id: 'wrk_1' } } }],
      ['data with another meaning', { dataVersion: 2 }],
      ['an envelope with another meaning', { specVersion: 2 }],
    ])('of a known type with %s, of a later release, passes through as well', async (_, later) => {
      const event = { ...example.payload, ...later };
      const { value } = await verify(signed({ body: JSON.stringify(event) }));
      expect(tells(value, false)).toBe(true);
      expect(members(value.event)).toMatchObject(event);
    });

    test.each([example.payload.type, 'worker.promoted'])(
      'of the type %s in an envelope of a later release keeps id, type, data and test mark',
      async (type) => {
        const later = { specVersion: 2, occurredAt: { at: 1 }, sequence: 'b', entity: ['wrk_1'] };
        const event = { ...example.payload, type, ...later, test: true };
        const { value, error } = await verify(signed({ body: JSON.stringify(event) }));
        expect(error).toBeUndefined();
        expect([tells(value, false), value.isTest]).toEqual([true, true]);
        expect(value.event).toMatchObject({ id: event.id, type, data: event.data });
      },
    );

    test('without a sequence, whose time this release cannot read, has 0 in its place', async () => {
      const event = { id: 'evt_1', type: 'worker.promoted', occurredAt: { at: 1 }, data: {} };
      const { value } = await verify(signed({ body: JSON.stringify(event) }));
      expect(value.event).toMatchObject({ sequence: 0 });
    });

    test('may have members and values that this release does not know', async () => {
      const { payload } = examples.find(({ payload }) => payload.type === 'user.updated') as Example;
      const body = JSON.stringify({
        ...payload,
        added: 1,
        data: { ...payload.data, status: 'ON_LEAVE', more: {} },
      });
      const { value } = await verify(signed({ body }));
      expect(tells(value, true)).toBe(true);
      expect(value.event).toMatchObject({ data: { status: 'ON_LEAVE' } });
    });

    test.each([example.payload.type, 'worker.promoted'])(
      'of the type %s, of a release that sent no sequence, has the time in its place',
      async (type) => {
        const { sequence: _, ...payload } = example.payload;
        const { value } = await verify(signed({ body: JSON.stringify({ ...payload, type }) }));
        expect(value.event).toMatchObject({ sequence: Date.parse(payload.occurredAt) });
      },
    );
  });

  describe('while a secret is being replaced', () => {
    test.each([
      ['signed with both, known to who has the old one', [secret, oldSecret], [oldSecret]],
      ['signed with both, known to who has the new one', [secret, oldSecret], [secret]],
      ['signed with the old one, known to who has both', [oldSecret], [secret, oldSecret]],
    ])('a request is genuine: %s', async (_, secrets, known) => {
      expect((await verify(signed({ secrets }), known)).value).toMatchObject(genuine);
    });

    test('signatures of a later version are left alone', async () => {
      const request = changed('Webhook-Signature', (value) => `v2,AAAA v1a,AAAA ${value}`);
      expect((await verify(request)).value).toMatchObject(genuine);
    });
  });

  describe('a request that is not believed', () => {
    const flipped = signed();
    flipped.body[20] = (flipped.body[20] ?? 0) ^ 1;
    const longer = signed();
    longer.body = Buffer.concat([longer.body, Buffer.from(' ')]);

    test.each<[string, SignedRequest, string]>([
      ['another secret', signed({ secrets: [strange] }), 'signature_mismatch'],
      ['one bit of the body changed', flipped, 'signature_mismatch'],
      ['white space added', longer, 'signature_mismatch'],
      ['the id of another event', changed('Webhook-Id', () => 'evt_other'), 'signature_mismatch'],
      [
        'a fresher timestamp',
        changed('Webhook-Timestamp', (at) => `${Number(at) + 1}`),
        'signature_mismatch',
      ],
      ['half a signature', changed('Webhook-Signature', () => 'v1,AAAA'), 'signature_mismatch'],
      ['a signature that is not base64', changed('Webhook-Signature', () => 'v1,!!!'), 'signature_mismatch'],
      [
        'another version only',
        changed('Webhook-Signature', (it) => it.replace('v1', 'v2')),
        'signature_mismatch',
      ],
      ['no id', changed('Webhook-Id', () => ''), 'header_missing'],
      ['no timestamp', changed('Webhook-Timestamp', () => ''), 'header_missing'],
      ['no signature', changed('Webhook-Signature', () => ''), 'header_missing'],
      ['a timestamp in words', changed('Webhook-Timestamp', () => 'now'), 'timestamp_malformed'],
      ['a timestamp with a sign', changed('Webhook-Timestamp', () => '-1782896401'), 'timestamp_malformed'],
      ['an age of 301 seconds', signed({ ageSeconds: 301 }), 'timestamp_too_old'],
      ['a time 301 seconds ahead', signed({ ageSeconds: -301 }), 'timestamp_too_new'],
      ['a signed body that is no JSON', signed({ body: 'hello' }), 'body_malformed'],
      ['a signed body that is no event', signed({ body: 'null' }), 'body_malformed'],
    ])('%s: %#', async (_, request, reason) => {
      expect((await verify(request)).error).toMatchObject({ name: 'WebhookVerificationError', reason });
    });

    test.each([
      [300, {}],
      [-300, {}],
      [900, { toleranceSeconds: 900 }],
    ])('an age of %d seconds is borne with %j', async (ageSeconds, more) => {
      expect((await verify(signed({ ageSeconds }), [secret], more)).value).toMatchObject(genuine);
    });

    test.each([
      ['a secret without its prefix', [secret.slice(6)]],
      ['an empty secret', ['whsec_']],
      ['no secret', []],
    ])('%s is a mistake of the program, and says so', async (_, given) => {
      expect((await verify(signed(), given)).error).toMatchObject({ name: 'ValueError' });
    });
  });
}
