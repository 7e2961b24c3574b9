import { randomUUID } from 'node:crypto';
import type { Metadata } from '@grpc/grpc-js';
import { ErrorCode, ServiceError } from '../errors/service-error.js';

export const REQUEST_ID_KEY = 'x-request-id';
export const AUTHORIZATION_KEY = 'authorization';

const REQUEST_ID_SHAPE = /^[A-Za-z0-9._:/-]{1,200}$/;

/** The caller's request id, or a new one where it has none that is fit for a log. */
export function requestIdOf(metadata: Metadata): string {
  const given = metadata.get(REQUEST_ID_KEY)[0];
  return typeof given === 'string' && REQUEST_ID_SHAPE.test(given) ? given : randomUUID();
}

export function bearerTokenOf(metadata: Metadata): string {
  const header = metadata.get(AUTHORIZATION_KEY)[0];
  if (typeof header !== 'string' || !header.startsWith('Bearer ')) {
    throw new ServiceError(ErrorCode.SERVICE_TOKEN_MISSING, 'This call needs a service token.');
  }
  return header.slice('Bearer '.length);
}
