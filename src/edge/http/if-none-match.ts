/** The entity tags of an If-None-Match header, of weak ones without their mark. */
export function tagsIn(ifNoneMatch: string): string[] {
  return ifNoneMatch.match(/"[^"]*"/g) ?? [];
}

/** Whether the client holds one of the representations with these entity tags. */
export function isHeld(ifNoneMatch = '', tags: readonly string[]): boolean {
  return ifNoneMatch.trim() === '*' || tagsIn(ifNoneMatch).some((tag) => tags.includes(tag));
}
