import type { Application } from '../operator/applications.js';

/** What the operator takes from an application's scopes, its grants lose at once. */
export function scopesInForce(
  scopes: readonly string[],
  { allowedScopes }: Pick<Application, 'allowedScopes'>,
): string[] {
  return scopes.filter((scope) => allowedScopes.includes(scope));
}
