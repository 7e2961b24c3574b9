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

/** Reports all faults of the fields alone. */
export function validateSubscription({ url, eventTypes, clientIds, description }: SubscriptionFields): void {
  const violations = new Violations();
  const fault = typeof url === 'string' ? faultOfAddress(url) : undefined;
  if (fault !== undefined) {
    violations.add('url', fault);
  }
  if (eventTypes) {
    validatePatterns(violations, eventTypes);
  }
  validateList(violations, 'client_ids', clientIds ?? [], MAX_CLIENTS);
  violations.optionalText('description', description ?? undefined, MAX_TEXT_LENGTH);
  violations.throwIfAny();
}

/** Whether it is an exact type or matches at least one: a pattern without matches is a mistake. */
function isKnownPattern(pattern: string): boolean {
  return EVENT_TYPES.some((type) => matchesAny([pattern], type));
}

function validatePatterns(violations: Violations, patterns: readonly string[]): void {
  if (patterns.length === 0) {
    violations.add('event_types', 'must not be empty; * takes all events');
  }
  const checked = validateList(violations, 'event_types', patterns, MAX_PATTERNS);
  checked.forEach((pattern, index) => {
    if (!isKnownPattern(pattern)) {
      const message = `must be *, all of a kind such as user.*, or one of ${EVENT_TYPES.join(', ')}`;
      violations.add(`event_types[${index}]`, message);
    }
  });
}

/** Returns the items to check further: none of a list that is too long. */
function validateList(
  violations: Violations,
  path: string,
  list: readonly string[],
  max: number,
): readonly string[] {
  if (list.length > max) {
    violations.add(path, `must not be more than ${max}`);
    return [];
  }
  list.forEach((entry, index) => {
    if (list.indexOf(entry) < index) {
      violations.add(`${path}[${index}]`, 'must be given once');
    }
  });
  return list;
}
