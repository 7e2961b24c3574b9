/** Control characters, and those that turn the direction of writing. */
const UNSEEN = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** What somebody else wrote, without what would move the cursor or change the colours of the terminal that shows it. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, '·');
}

/** The same, for a place in a line. */
export function printableLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}
