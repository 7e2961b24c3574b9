/**
 * The characters of a text as `maxLength` of the contracts counts them: code points of one or two units.
 * Counts no further than the limit needs: of a longer text it only says that there are more.
 */
export function charactersOf(text: string, limit: number): number {
  return text.length > 2 * limit ? text.length : [...text].length;
}

/** Whether a text has more characters than a limit. Most texts need no count. */
export function isLonger(text: string, limit: number): boolean {
  return text.length > limit && charactersOf(text, limit) > limit;
}
