import { MAX_NAME_LENGTH, type Violations } from './violations.js';

/** First and last joined by a space; a part that is absent is left out, and nothing is left of two. */
export function fullNameOf(firstName: string | null, lastName: string | null): string | null {
  return [firstName, lastName].filter((part) => part !== null).join(' ') || null;
}

/** Names that may be absent, but not blank: null and undefined say so. */
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
