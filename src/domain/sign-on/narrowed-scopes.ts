import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Application } from '../operator/applications.js';
import { parseScopes } from './requested-scopes.js';
import { scopesInForce } from './scopes-in-force.js';

/** The scopes of a refresh: those that it asks for, each of which was granted. A parameter without a value was not sent (RFC 6749, section 3.1). */
export function narrowedScopes(
  granted: readonly string[],
  application: Application,
  asked: string | undefined,
): string[] {
  const inForce = scopesInForce(granted, application);
  if (!asked) {
    return inForce.length > 0 ? inForce : refuse('The application may not use the granted scopes any more.');
  }
  const { known, unknown } =
    parseScopes(asked) ?? refuse('The scope is not a list separated by single spaces.');
  if (unknown.length > 0) {
    // What was sent is not repeated.
    refuse('The scope holds what is no scope here.');
  }
  const refused = known.find((scope) => !inForce.includes(scope));
  return refused === undefined ? known : refuse(`The scope ${refused} was not granted.`);
}

function refuse(message: string): never {
  throw new ServiceError(ErrorCode.INVALID_SCOPE, message);
}
