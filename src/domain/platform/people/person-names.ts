import type { Violations } from '../violations.js';

/** First and last name, joined by a space; empty if both are absent. */
export function fullNameOf(firstName: string | null, lastName: string | null): string | null {
  return [firstName, lastName].filter((part) => part !== null).join(' ') || null;
}

/** Names may be absent (null, undefined), but not blank. */
export function validatePersonNames(
  violations: Violations,
  names: { firstName?: string | null; lastName?: string | null },
): void {
  violations.clearableText('first_name', names.firstName);
  violations.clearableText('last_name', names.lastName);
}
