import { randomUUID } from 'node:crypto';
import type { Metadata } from '@grpc/grpc-js';
import { ErrorCode, ServiceError } from '../errors/service-error.js';

export const REQUEST_ID_KEY = 'x-request-id';
export const AUTHORIZATION_KEY = 'authorization';

/** For whom the caller acts: an id that means something to the caller, for the audit log. */
export const ON_BEHALF_OF_KEY = 'x-on-behalf-of';

const ON_BEHALF_OF_SHAPE = /^[A-Za-z0-9._:@/+-]{1,128}$/;
const REQUEST_ID_SHAPE = /^[A-Za-z0-9._:/-]{1,200}$/;

/** The caller's request id, or a new one where it has none that is fit for a log. */
export function requestIdOf(metadata: Metadata): string {
  const given = metadata.get(REQUEST_ID_KEY)[0];
  return typeof given === 'string' && REQUEST_ID_SHAPE.test(given) ? given : randomUUID();
}

/** Refused where it cannot be recorded as it is: a record that names somebody else would be worse than none. */
export function onBehalfOf(metadata: Metadata): string | undefined {
  const [given, ...more] = metadata.get(ON_BEHALF_OF_KEY);
  if (given === undefined) {
    return undefined;
  }
  if (more.length > 0 || typeof given !== 'string' || !ON_BEHALF_OF_SHAPE.test(given)) {
    const message = 'must be one id of 1 to 128 letters, digits and . _ : @ / + -';
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The call does not say clearly for whom it is made.', {
      fieldViolations: [{ path: ON_BEHALF_OF_KEY, message }],
    });
  }
  return given;
}

export function bearerTokenOf(metadata: Metadata): string {
  const header = metadata.get(AUTHORIZATION_KEY)[0];
  if (typeof header !== 'string' || !header.startsWith('Bearer ')) {
    throw new ServiceError(ErrorCode.SERVICE_TOKEN_MISSING, 'This call needs a service token.');
  }
  return header.slice('Bearer '.length);
}

/** `127.0.0.1:50123`, `[::1]:50123`; what comes over a socket has no address. */
export function remoteAddressOf(peer: string): string | undefined {
  const [, address] = /^\[?([0-9a-fA-F.:]+?)\]?:\d+$/.exec(peer) ?? [];
  return address;
}
