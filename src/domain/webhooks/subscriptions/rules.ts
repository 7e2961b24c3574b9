import type { EventType } from '../../../../generated/asyncapi/events.js';
import { payloadSchemaOf } from '../../../../generated/asyncapi/schemas.js';
import { ErrorCode, fieldRefusal } from '../../../errors/service-error.js';
import { MAX_TEXT_LENGTH, Violations } from '../../platform/violations.js';
import { matchesAny } from '../event-patterns.js';

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
  const message = `must be *, a pattern such as user.*, or one of ${EVENT_TYPES.join(', ')}`;
  violations.items('event_types', checked, (pattern) => (isKnownPattern(pattern) ? undefined : message));
}

const MAX_URL_LENGTH = 2_048;

/** The characters of a URI (RFC 3986), without those that browsers would normalize. */
const WEB_ADDRESS = /^https?:\/\/[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/i;

/**
 * Our keys and secrets. Addresses are shown, logged and sent to proxies. Words may end like a prefix
 * (`analytics_live_…`).
 */
const CREDENTIAL =
  /(?<![0-9A-Za-z])(ik|cs|operator|platform|support|auditor|key_custodian|service|edge|relay|maintenance)_(live|demo)_[0-9A-Za-z]{20}|whsec_/;

export interface AddressPolicy {
  addressGuard: AddressGuard;
}

/** The address in canonical form, if deliveries may go there. It must have no fault. */
export async function allowedAddress(text: string, { addressGuard }: AddressPolicy): Promise<string> {
  const url = new URL(text);
  const refusal = await addressGuard.refusalOf(url);
  if (refusal !== undefined) {
    throw fieldRefusal(ErrorCode.WEBHOOK_URL_REFUSED, `The address ${refusal}.`, 'url', refusal);
  }
  return url.href;
}

/** Faults of the text alone. */
export function faultOfAddress(text: string): string | undefined {
  if (text === '') {
    return 'must not be empty';
  }
  if (text.length > MAX_URL_LENGTH) {
    return `must not be longer than ${MAX_URL_LENGTH} characters`;
  }
  if (text.includes('#')) {
    return 'must not have a fragment';
  }
  if (!WEB_ADDRESS.test(text) || !URL.canParse(text)) {
    return 'must be an absolute http or https address in ASCII, such as https://hooks.example.com/integration';
  }
  const { username, password, href, port } = new URL(text);
  if (username !== '' || password !== '') {
    return 'must not contain credentials';
  }
  if (port === '0') {
    return 'must not name port 0, on which nothing can listen';
  }
  return CREDENTIAL.test(decoded(href))
    ? 'must not contain an API key or another secret of this service'
    : undefined;
}

/** Byte by byte: no encoded character then looks like a letter before a key. */
function decoded(href: string): string {
  return href.replace(/%([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Keeps deliveries out of non-public networks, and on live encrypted. The sender asks it too. */
export interface AddressGuard {
  /** Why deliveries must not go to the host, such as "resolves to 10.0.0.7, …"; undefined where they may. */
  refusalOf(url: URL): Promise<string | undefined>;
}
