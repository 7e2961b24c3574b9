const TAG = /(?:W\/)?("[^"]*")/g;

/** Whether the client holds one of the representations with these entity tags. */
export function isHeld(ifNoneMatch = '', tags: readonly string[]): boolean {
  return (
    ifNoneMatch.trim() === '*' || [...ifNoneMatch.matchAll(TAG)].some(([, tag = '']) => tags.includes(tag))
  );
}
