import { IntegrationServiceError } from './errors.js';
import type { EventsByType, EventType, WebhookEvent } from './generated/events.js';

export type * from './generated/events.js';

/** For the compiler only: any future event type, so that comparing `type` narrows. */
declare enum UnknownEventType {
  Any = 'a type that this release does not know',
}

/** An event of a type unknown to this release: answer 2xx to it. */
export interface UnknownEvent {
  id: string;
  /** A text; assign it to a variable of type `string` to compare it. */
  type: UnknownEventType.Any;
  specVersion: number;
  dataVersion: number;
  occurredAt: string;
  /** Of two events of one entity, the newer has the greater. */
  sequence: number;
  /** Only in test events: nothing happened. */
  test?: true;
  entity: { type: string; id: string };
  data: Record<string, unknown>;
}

/** Comparing `type` narrows `entity` and `data`, which can differ in a later version: see `isEvent`. */
export type ReceivedEvent = WebhookEvent | UnknownEvent;

export type WebhookVerificationReason =
  | 'header_missing'
  | 'timestamp_malformed'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'signature_mismatch'
  | 'body_malformed';

/** The request is not from the service, or too old. Answer 4xx and ignore it. */
export class WebhookVerificationError extends IntegrationServiceError {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly reason: WebhookVerificationReason,
    message: string,
  ) {
    super(message);
  }
}

/** `Headers`, or an object as in Node.js, with names in any case. */
export type WebhookHeadersInit =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions {
  /** The largest difference between timestamp and clock, past or future. Default: 300. */
  toleranceSeconds?: number | undefined;
  /** Replaces the clock in tests. */
  now?: Date | undefined;
}

const DEFAULT_TOLERANCE_SECONDS = 300;
const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;

/**
 * The event of a request that one of the secrets signed and that is recent; else throws
 * `WebhookVerificationError`. During a rotation give both secrets. Deduplicate by `event.id`.
 *
 * @param body the exact bytes received, not parsed and serialized again
 */
export async function verifyWebhook(
  body: Uint8Array | ArrayBuffer | string,
  headers: WebhookHeadersInit,
  secrets: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = new Date() }: VerifyWebhookOptions = {},
): Promise<ReceivedEvent> {
  const keys = keysOf(secrets);
  checkTolerance(toleranceSeconds);
  const payload = bytesOf(body);
  const id = required(headers, 'webhook-id');
  const timestamp = required(headers, 'webhook-timestamp');
  const signatures = signaturesOf(required(headers, 'webhook-signature'));
  checkAge(timestamp, toleranceSeconds, now);
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), payload);
  for (const key of keys) {
    if (await isSignedWith(key, signatures, signed)) {
      return eventIn(payload);
    }
  }
  throw new WebhookVerificationError(
    'signature_mismatch',
    'No signature was made with one of these secrets.',
  );
}

/** Whether an event has this type, in the version that this release knows; narrows `entity` and `data`. */
export function isEvent<Type extends EventType>(
  event: ReceivedEvent,
  type: Type,
): event is EventsByType[Type] {
  return event.type === type && event.specVersion === 1 && event.dataVersion === 1;
}

/**
 * Throws a `TypeError` for a malformed secret, or none.
 *
 * @internal
 */
export function keysOf(secrets: string | readonly string[]): Uint8Array<ArrayBuffer>[] {
  const keys = (typeof secrets === 'string' ? [secrets] : secrets).map(keyOf);
  if (keys.length === 0) {
    throw new TypeError('At least one webhook secret is needed.');
  }
  return keys;
}

/**
 * Throws a `TypeError` for a limit such as `Number(undefined)`, which no age exceeds.
 *
 * @internal
 */
export function checkTolerance(toleranceSeconds = DEFAULT_TOLERANCE_SECONDS): void {
  if (!(toleranceSeconds >= 0)) {
    throw new TypeError('toleranceSeconds must be a number of seconds, zero or more.');
  }
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith('whsec_') ? base64Bytes(secret.slice('whsec_'.length)) : undefined;
  if (!key || key.length === 0) {
    throw new TypeError('A webhook secret is `whsec_` and base64.');
  }
  return key;
}

function bytesOf(body: Uint8Array | ArrayBuffer | string): Uint8Array {
  if (typeof body === 'string') {
    return new TextEncoder().encode(body);
  }
  if (body instanceof Uint8Array) {
    return body;
  }
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') {
    return new Uint8Array(body);
  }
  throw new TypeError('body must be the bytes of the request as they came, not what was parsed from them.');
}

function required(headers: WebhookHeadersInit, name: string): string {
  const value =
    'get' in headers && typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = Array.isArray(value) ? value.join(' ') : value;
  if (typeof text !== 'string' || text === '') {
    throw new WebhookVerificationError('header_missing', `The header ${name} is missing.`);
  }
  return text;
}

/** Signatures of version 1; others are for later releases. */
function signaturesOf(header: string): Uint8Array<ArrayBuffer>[] {
  return header.split(' ').flatMap((part) => {
    const signature = part.startsWith('v1,') ? base64Bytes(part.slice('v1,'.length)) : undefined;
    return signature ? [signature] : [];
  });
}

function checkAge(timestamp: string, toleranceSeconds: number, now: Date): void {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError(
      'timestamp_malformed',
      'webhook-timestamp is not a number of seconds.',
    );
  }
  const ageSeconds = Math.floor(now.getTime() / 1000) - Number(timestamp);
  // Negated, so that an age or a limit that is not a number refuses the request.
  if (!(ageSeconds <= toleranceSeconds)) {
    throw new WebhookVerificationError('timestamp_too_old', `The request was signed ${ageSeconds} s ago.`);
  }
  if (!(ageSeconds >= -toleranceSeconds)) {
    const message = `The request was signed ${-ageSeconds} s in the future; is your clock right?`;
    throw new WebhookVerificationError('timestamp_too_new', message);
  }
}

/** Signs once, because a stranger may send many signatures: `verify` would hash the body for each. */
async function isSignedWith(
  secret: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', secret, HMAC, false, ['sign']);
  const expected = new Uint8Array(await crypto.subtle.sign(HMAC, key, signed));
  return signatures.some((signature) => isEqual(signature, expected));
}

/** Takes as long for each signature: a time would tell how much of a forged one is right. */
function isEqual(signature: Uint8Array, expected: Uint8Array): boolean {
  const difference = expected.reduce(
    (found, byte, index) => found | (byte ^ (signature[index] ?? 0)),
    signature.length ^ expected.length,
  );
  return difference === 0;
}

function eventIn(payload: Uint8Array): ReceivedEvent {
  let event: Partial<ReceivedEvent> | null = null;
  try {
    event = JSON.parse(new TextDecoder().decode(payload));
  } catch {
    // Not JSON; reported below.
  }
  if (typeof event?.id !== 'string' || typeof event.type !== 'string') {
    throw new WebhookVerificationError('body_malformed', 'The body is signed, and is no event.');
  }
  // Earlier releases of the service sent none; the present one sends the time in its place.
  return { sequence: Date.parse(event.occurredAt ?? '') || 0, ...event } as ReceivedEvent;
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function base64Bytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
