/** The fields of a form or a query in their order, each with all its values: what is repeated stays to be judged. */
export type Fields = ReadonlyMap<string, readonly string[]>;

const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
/** Half of a character that takes two, which UTF-8 cannot say. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Strict where URLSearchParams would guess: undefined for an escape that is broken, or one that is not UTF-8. NUL and repetition are the business
 * of whoever reads a field.
 */
export function parseForm(text: string): Fields | undefined {
  const fields = new Map<string, string[]>();
  for (const pair of text.split('&')) {
    if (pair === '') {
      continue;
    }
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    const value = decodeFormText(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      return undefined;
    }
    const values = fields.get(name);
    if (values) {
      values.push(value);
    } else {
      fields.set(name, [value]);
    }
  }
  return fields;
}

/** One text as forms write it, where `+` is a space. */
export function decodeFormText(text: string): string | undefined {
  if (BROKEN_ESCAPE.test(text) || LONE_SURROGATE.test(text)) {
    return undefined;
  }
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
