import { MAX_NAME_LENGTH, type Violations } from '../violations.js';

/** First and last name, joined by a space; empty if both are absent. */
export function fullNameOf(firstName: string | null, lastName: string | null): string | null {
  return [firstName, lastName].filter((part) => part !== null).join(' ') || null;
}

/** Names may be absent (null, undefined), but not blank. */
export function validatePersonNames(
  violations: Violations,
  names: { firstName?: string | null; lastName?: string | null },
): void {
  for (const [path, name] of [
    ['first_name', names.firstName],
    ['last_name', names.lastName],
  ] as const) {
    if (name !== undefined && name !== null) {
      violations.requiredText(path, name, MAX_NAME_LENGTH);
    }
  }
}
