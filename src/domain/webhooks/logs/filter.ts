import { Violations } from '../../platform/violations.js';

/** Filters of the logs: patterns of types as in `../event-patterns.ts`, and a span of time. */
export interface LogFilter {
  /** Empty means all. */
  eventTypes: readonly string[];
  since?: number;
  until?: number;
}

const PATTERN = /^(\*|[a-z_]+(\.[a-z_]+)*(\.\*)?)$/;
const MAX_PATTERNS = 50;

/** `typesPath` is the request's name for the patterns. */
export function logFilterViolations(
  { eventTypes, since, until }: LogFilter,
  typesPath = 'event_types',
): Violations {
  const violations = new Violations();
  violations.listOfAtMost(MAX_PATTERNS, typesPath, eventTypes).forEach((pattern, index) => {
    if (!PATTERN.test(pattern)) {
      violations.add(
        `${typesPath}[${index}]`,
        'must be a type such as user.updated, a pattern such as user.*, or *',
      );
    }
  });
  if (since !== undefined && until !== undefined && !(since < until)) {
    violations.add('until', 'must be later than since');
  }
  return violations;
}
