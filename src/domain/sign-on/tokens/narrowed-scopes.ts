import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { Application } from '../../operator/rows/applications.js';
import { parseScopes } from '../authorization/requested-scopes.js';
import { scopesInForce } from './scopes-in-force.js';

/** The scopes that a refresh asks for, if all are granted. An empty parameter counts as absent. */
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
    // The message does not repeat the input.
    refuse('The scope contains an unknown scope.');
  }
  const refused = known.find((scope) => !inForce.includes(scope));
  return refused === undefined ? known : refuse(`The scope ${refused} was not granted.`);
}

function refuse(message: string): never {
  throw new ServiceError(ErrorCode.INVALID_SCOPE, message);
}
