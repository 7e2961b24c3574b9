import { describe, expect, test } from '@jest/globals';
import { exampleEvents } from '../../../generated/asyncapi/examples.js';
import type { ClientId, InstanceId } from '../../../generated/ids.js';
import { RECEIVER, type RecordedEvent } from '../../../src/domain/platform/unit-of-work.js';
import { faultOfEvent } from '../../../src/domain/webhooks/event-body.js';

const AT = { id: exampleEvents['user.updated'].id, occurredAt: Date.UTC(2026, 5, 30) };

/** As it is recorded, before a receiver is known. */
function recorded(example: (typeof exampleEvents)[keyof typeof exampleEvents], changes: object = {}) {
  const { type, entity, data } = example;
  const links = { self: data.links.self.replace(/iin_\w+/, RECEIVER) };
  const [instanceId, clientId] = ['ins_1' as InstanceId, 'cli_1' as ClientId];
  return { type, instanceId, clientId, entity, data: { ...data, links, ...changes } } as RecordedEvent<never>;
}

test.each(Object.values(exampleEvents))('$type is in order as its example', (example) => {
  expect(faultOfEvent(recorded(example), AT)).toBeUndefined();
});

describe('an event is refused that has', () => {
  const user = exampleEvents['user.updated'];
  test.each([
    ['no status', { status: undefined }, "/data must have required property 'status'"],
    ['an unknown status', { status: 'GONE' }, '/data/status must be equal to one of the allowed values'],
    ['a number for a name', { firstName: 7 }, '/data/firstName must be string,null'],
    ['an id of another kind', { clientId: 'usr_1' }, '/data/clientId must match pattern'],
    ['an address that is none', { email: 'a..b@x.com' }, '/data/email must match'],
    ['a time that is none', { createdAt: 'yesterday' }, '/data/createdAt must match format "date-time"'],
    ['a link to elsewhere', { links: { self: '/v3/users' } }, '/data/links/self must match pattern'],
  ])('%s, and the fault names the place and no value', (_, changes, fault) => {
    expect(faultOfEvent(recorded(user, changes), AT)).toContain(fault);
  });

  test('a type that the contract lacks', () => {
    const event = { ...recorded(user), type: 'user.renamed' };
    expect(faultOfEvent(event as never, AT)).toBe('its type is none of the contract');
  });

  test('an entity of another type', () => {
    const event = { ...recorded(user), entity: { type: 'client', id: user.entity.id } };
    expect(faultOfEvent(event as never, AT)).toContain('/entity');
  });
});
