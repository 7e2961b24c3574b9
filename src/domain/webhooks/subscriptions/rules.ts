import type { EventType } from '../../../../generated/asyncapi/events.js';
import { payloadSchemaOf } from '../../../../generated/asyncapi/schemas.js';
import { MAX_TEXT_LENGTH, Violations } from '../../platform/violations.js';
import { matchesAny } from '../event-patterns.js';
import { faultOfAddress } from './address.js';

/** Every type of the contract, in its order. */
export const EVENT_TYPES = Object.keys(payloadSchemaOf) as EventType[];

/** Per instance integration: each matching one costs a row per event. */
export const MAX_SUBSCRIPTIONS = 100;

const MAX_PATTERNS = 50;
const MAX_CLIENTS = 200;

/** Settings for creation and updates; null clears a setting. */
export interface SubscriptionFields {
  url?: string | null;
  eventTypes?: readonly string[] | null;
  clientIds?: readonly string[] | null;
  description?: string | null;
}

/** Reports all faults that are visible without the database. */
export function validateSubscription({ url, eventTypes, clientIds, description }: SubscriptionFields): void {
  const violations = new Violations();
  const fault = typeof url === 'string' ? faultOfAddress(url) : undefined;
  if (fault !== undefined) {
    violations.add('url', fault);
  }
  if (eventTypes) {
    validatePatterns(violations, eventTypes);
  }
  violations.distinctItems('client_ids', violations.listOfAtMost(MAX_CLIENTS, 'client_ids', clientIds ?? []));
  violations.optionalText('description', description ?? undefined, MAX_TEXT_LENGTH);
  violations.throwIfAny();
}

/** Whether the pattern matches at least one event type: a pattern without matches is a mistake. */
function isKnownPattern(pattern: string): boolean {
  return EVENT_TYPES.some((type) => matchesAny([pattern], type));
}

function validatePatterns(violations: Violations, patterns: readonly string[]): void {
  if (patterns.length === 0) {
    violations.add('event_types', 'must not be empty; * matches all events');
  }
  const checked = violations.listOfAtMost(MAX_PATTERNS, 'event_types', patterns);
  violations.distinctItems('event_types', checked);
  checked.forEach((pattern, index) => {
    if (!isKnownPattern(pattern)) {
      const message = `must be *, a pattern such as user.*, or one of ${EVENT_TYPES.join(', ')}`;
      violations.add(`event_types[${index}]`, message);
    }
  });
}
