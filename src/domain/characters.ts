/**
 * The number of characters of a text as `maxLength` of the contracts counts them: Unicode code points. Each
 * has one or two UTF-16 units, so a text of more than twice the limit is not counted: returns its units.
 */
export function charactersOf(text: string, limit: number): number {
  return text.length > 2 * limit ? text.length : [...text].length;
}

/** Whether a text has more characters than the limit. A text of no more UTF-16 units needs no count. */
export function isLonger(text: string, limit: number): boolean {
  return text.length > limit && charactersOf(text, limit) > limit;
}
