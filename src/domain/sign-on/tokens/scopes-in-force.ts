import type { Application } from '../../operator/rows/applications.js';

/** Scopes that the operator removes from an application are removed from its grants at once. */
export function scopesInForce(
  scopes: readonly string[],
  { allowedScopes }: Pick<Application, 'allowedScopes'>,
): string[] {
  return scopes.filter((scope) => allowedScopes.includes(scope));
}
