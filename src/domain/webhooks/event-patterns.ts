/** Whether one of the patterns matches the type: `user.updated`, `user.*` or `*`. */
export function matchesAny(patterns: readonly string[], eventType: string): boolean {
  return patterns.some((pattern) => matches(pattern, eventType));
}

function matches(pattern: string, eventType: string): boolean {
  if (pattern === '*') {
    return true;
  }
  return pattern.endsWith('.*') ? eventType.startsWith(pattern.slice(0, -1)) : pattern === eventType;
}
