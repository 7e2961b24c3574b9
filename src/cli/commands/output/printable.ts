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

/**
 * As JSON of protobuf, with bytes in base64 and what is set of a oneof under its own name. Untrusted text in
 * it is safe to print on a terminal.
 */
export function asJson(value: unknown, indent = 2): string {
  return printableJson(JSON.stringify(value, asInProtobuf, indent));
}

/** As one line, for streams of objects. */
export function asJsonLine(value: unknown): string {
  return asJson(value, 0);
}

/** `value` is the outcome of `toJSON`; the holder still has the bytes. */
function asInProtobuf(this: unknown, key: string, value: unknown): unknown {
  const original: unknown = Reflect.get(this as object, key);
  if (original instanceof Uint8Array) {
    return Buffer.from(original).toString('base64');
  }
  const isMessage = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMessage ? Object.fromEntries(Object.entries(value).map(chosen)) : value;
}

function chosen([name, value]: [string, unknown]): [string, unknown] {
  const choice = value as { $case?: string; value?: unknown } | null | undefined;
  return typeof choice?.$case === 'string' ? [choice.$case, choice.value] : [name, value];
}
