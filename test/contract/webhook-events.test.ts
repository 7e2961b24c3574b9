import { describe, expect, test } from '@jest/globals';
import { exampleEvents } from '../../generated/asyncapi/examples.js';
import { payloadSchemaOf } from '../../generated/asyncapi/schemas.js';
import { faultsOfWebhook } from '../support/webhooks/event-judge.js';

const events = Object.values(exampleEvents);
const updated = exampleEvents['user.updated'];

const headersOf = (id: string) => ({
  'content-type': 'application/json',
  'user-agent': 'IntegrationService-Webhooks/1.4.0',
  'webhook-id': id,
  'webhook-timestamp': '1782896400',
  'webhook-signature': `v1,${'A'.repeat(43)}=`,
});

const faultsOf = (event: unknown, headers: object = headersOf(updated.id)) =>
  faultsOfWebhook(headers as never, Buffer.from(JSON.stringify(event)));

describe('the judge of what webhook receivers get', () => {
  test('knows every type of event, and takes the generated example of each', () => {
    expect(events.map(({ type }) => type).sort()).toEqual(Object.keys(payloadSchemaOf).sort());
    expect(events.flatMap((event) => faultsOf(event, headersOf(event.id)))).toEqual([]);
  });

  const { data, entity: _, ...withoutEntity } = updated;
  const { 'webhook-signature': __, ...unsigned } = headersOf(updated.id);
  const { 'user-agent': ___, ...nameless } = headersOf(updated.id);
  test.each<{ what: string; event: unknown; headers?: object }>([
    { what: 'what is no JSON object', event: 'text' },
    { what: 'an unknown type', event: { ...updated, type: 'user.renamed' } },
    { what: 'a type of another thing', event: { ...updated, type: 'client.created' } },
    { what: 'a member that is missing', event: withoutEntity },
    {
      what: 'a member of the data that is missing',
      event: { ...updated, data: { ...data, links: undefined } },
    },
    { what: 'an id of another kind', event: { ...updated, id: 'usr_HCZONjGb2Vig7IXUdMsJi5' } },
    { what: 'an order that is no number', event: { ...updated, sequence: '1' } },
    { what: 'a time that is none', event: { ...updated, occurredAt: 'yesterday' } },
    {
      what: 'an id that is not that of the header',
      event: updated,
      headers: headersOf('evt_0000000000000000000000'),
    },
    { what: 'no signature', event: updated, headers: unsigned },
    { what: 'no sender', event: updated, headers: nameless },
  ])('catches $what', ({ event, headers }) => {
    expect(faultsOf(event, headers)).not.toEqual([]);
  });

  test('catches what is no JSON at all', () => {
    expect(faultsOfWebhook(headersOf(updated.id), Buffer.from('{'))).toHaveLength(1);
  });
});
