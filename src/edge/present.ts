import { internalError } from '../errors/service-error.js';

/** What the gRPC contract promises and proto3 cannot require. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) {
    throw internalError(new Error('the answer of the domain lacks a required member'));
  }
  return value;
}
