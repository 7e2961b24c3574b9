/** Control characters, and those that change the writing direction or break lines. */
const UNSEEN = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Removes from untrusted text what would move the cursor or change the colours of a terminal. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, '·');
}

/** The same, and without line breaks. */
export function printableLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/** The same for JSON, whose meaning is kept. Indented JSON keeps only the line breaks of its layout. */
export function printableJson(json: string): string {
  return json.replace(UNSEEN, (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
