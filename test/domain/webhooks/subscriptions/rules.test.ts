import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { matchesAny } from '../../../../src/domain/webhooks/event-patterns.js';
import {
  EVENT_TYPES,
  type SubscriptionFields,
  validateSubscription,
} from '../../../../src/domain/webhooks/subscriptions/rules.js';
import { ServiceError } from '../../../../src/errors/service-error.js';

const GOOD = { url: 'https://hooks.example.com/', eventTypes: ['*'], clientIds: [], description: '' };

function faultsOf(fields: SubscriptionFields): string[] {
  try {
    validateSubscription(fields);
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) {
      throw error;
    }
    return error.fieldViolations.map(({ path }) => path);
  }
}

test('the types are the nine of the contract', () => {
  expect(EVENT_TYPES).toEqual([
    'client.created',
    'user.created',
    'user.updated',
    'organization_unit.created',
    'organization_unit_type.created',
    'organization_location.created',
    'organization_location.deleted',
    'worker.onboarded',
    'worker.updated',
  ]);
});

describe('events are chosen by', () => {
  test.each(['*', 'user.*', 'organization_unit.*', 'worker.updated', 'organization_location.deleted'])(
    '%s',
    (pattern) => {
      expect(faultsOf({ ...GOOD, eventTypes: [pattern] })).toEqual([]);
    },
  );
});

describe('events are not chosen by', () => {
  test.each([
    '',
    '.*',
    '**',
    '*.*',
    '*.created',
    'user',
    'user.',
    'user*',
    'user.up*',
    'user.updated.*',
    'USER.*',
    ' user.*',
    'user.deleted',
    'organization.*',
    'constructor',
    '__proto__',
  ])('%j', (pattern) => {
    expect(faultsOf({ ...GOOD, eventTypes: ['user.*', pattern] })).toEqual(['event_types[1]']);
  });
});

test('a pattern that is accepted is one that some event matches, and none that differs from it by a letter is taken for it', () => {
  const near = fc
    .tuple(
      fc.constantFrom(...EVENT_TYPES, 'user.*', 'worker.*'),
      fc.nat(),
      fc.constantFrom('x', '', '*', '.'),
    )
    .map(([pattern, at, letter]) => {
      const index = at % pattern.length;
      return pattern.slice(0, index) + letter + pattern.slice(index + 1);
    });
  fc.assert(
    fc.property(near, (pattern) => {
      const matched = EVENT_TYPES.filter((type) => matchesAny([pattern], type));
      expect(faultsOf({ ...GOOD, eventTypes: [pattern] })).toHaveLength(matched.length > 0 ? 0 : 1);
      for (const type of matched) {
        expect([type, `${type.split('.')[0]}.*`]).toContain(pattern);
      }
    }),
  );
});

test.each<[string, SubscriptionFields, string[]]>([
  ['no events', { eventTypes: [] }, ['event_types']],
  ['the same events twice', { eventTypes: ['user.*', '*', 'user.*'] }, ['event_types[2]']],
  ['more than 50 patterns', { eventTypes: Array<string>(51).fill('nope') }, ['event_types']],
  ['a client twice', { clientIds: ['cli_a', 'cli_b', 'cli_a'] }, ['client_ids[2]']],
  ['more than 200 clients', { clientIds: Array<string>(201).fill('cli_a') }, ['client_ids']],
  ['a description too long', { description: 'x'.repeat(2_001) }, ['description']],
  ['a description that rings a bell', { description: 'a\u0007' }, ['description']],
])('a subscription with %s is refused', (_, fields, paths) => {
  expect(faultsOf({ ...GOOD, ...fields })).toEqual(paths);
});

test('every fault is named at once', () => {
  const fields = {
    url: 'ftp://x',
    eventTypes: ['nope', '*', '*'],
    clientIds: ['cli_a', 'cli_a'],
    description: 'first\nsecond',
  };
  expect(faultsOf(fields)).toEqual([
    'url',
    'event_types[2]',
    'event_types[0]',
    'client_ids[1]',
    'description',
  ]);
});

test('what an update does not name or clears is not looked at', () => {
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ clientIds: null, description: null })).toEqual([]);
});
