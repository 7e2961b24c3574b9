import { randomUUID } from 'node:crypto';
import type { Metadata } from '@grpc/grpc-js';
import { ErrorCode, invalidField, ServiceError } from '../errors/service-error.js';

export const REQUEST_ID_KEY = 'x-request-id';
/** The span of the caller, by W3C Trace Context. */
export const TRACEPARENT_KEY = 'traceparent';
export const AUTHORIZATION_KEY = 'authorization';

/** The person or system for which the caller acts: an id of the caller's own, for the audit log. */
export const ON_BEHALF_OF_KEY = 'x-on-behalf-of';

export interface CallOptions {
  /** Passed on to the log of the other side. */
  requestId: string;
  /** The person or system for which it is made, for the audit log: an id of the caller's own. */
  onBehalfOf?: string;
  /** For the whole call, with all its messages. */
  deadlineMs?: number;
  /** For a stream: the longest wait for each message, without the time that its reader takes. */
  messageWaitMs?: number;
  /** Cancels a unary call, with the reason as its error. A pending read of a stream fails as UNAVAILABLE. */
  signal?: AbortSignal;
}

const TRACEPARENT_SHAPE = /^[0-9a-f-]{55}$/;
const ON_BEHALF_OF_SHAPE = /^[A-Za-z0-9._:@/+-]{1,128}$/;
/** With `%`, because the worker encodes ids of Temporal. */
const REQUEST_ID_SHAPE = /^[A-Za-z0-9._:/%-]{1,200}$/;

/** The caller's request id, or a new one if that is unfit for a log. */
export function loggableRequestId(given: unknown): string {
  return typeof given === 'string' && REQUEST_ID_SHAPE.test(given) ? given : randomUUID();
}

export function traceparentOf(metadata: Metadata): string | undefined {
  const [given] = metadata.get(TRACEPARENT_KEY);
  return typeof given === 'string' && TRACEPARENT_SHAPE.test(given) ? given : undefined;
}

/** Refuses a value that cannot be recorded exactly. */
export function recordableOnBehalfOf([given, ...more]: readonly unknown[]): string | undefined {
  const recordable = loggableOnBehalfOf([given, ...more]);
  if (given !== recordable) {
    const message = 'must be one id of 1 to 128 letters, digits and . _ : @ / + -';
    throw invalidField('It is unclear on whose behalf the call is made.', ON_BEHALF_OF_KEY, message);
  }
  return recordable;
}

/** The value where it can be recorded exactly, for the log, which also has the calls that are refused. */
export function loggableOnBehalfOf([given, ...more]: readonly unknown[]): string | undefined {
  const isOne = typeof given === 'string' && more.length === 0;
  return isOne && ON_BEHALF_OF_SHAPE.test(given) ? given : undefined;
}

export function bearerTokenOf(metadata: Metadata): string {
  const header = metadata.get(AUTHORIZATION_KEY)[0];
  if (typeof header !== 'string' || !header.startsWith('Bearer ')) {
    throw new ServiceError(ErrorCode.SERVICE_TOKEN_MISSING, 'This call needs a service token.');
  }
  return header.slice('Bearer '.length);
}

/** `127.0.0.1:50123`, `[::1]:50123`; undefined for a socket. */
export function remoteAddressOf(peer: string): string | undefined {
  const [, address] = /^\[?([0-9a-fA-F.:]+?)\]?:\d+$/.exec(peer) ?? [];
  return address;
}
