/** Control characters, and those that turn the direction of writing or break lines where nobody expects it. */
const UNSEEN = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** What somebody else wrote, without what would move the cursor or change the colours of the terminal that shows it. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, '·');
}

/** The same, for a place in a line. */
export function printableLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/** The same of JSON, which means what it meant before. In what is laid out, line breaks stand between the texts only. */
export function printableJson(json: string): string {
  return json.replace(UNSEEN, (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
