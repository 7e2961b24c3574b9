/** The fields of a form or query in order, each with all its values, so that callers can judge repetition. */
export type Fields = ReadonlyMap<string, readonly string[]>;

const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/** No valid request has more. A body has room for 32,000, which take long to decode. */
export const MAX_PAIRS = 256;

/**
 * Undefined for malformed escapes or UTF-8, unlike URLSearchParams, and for too many pairs. Callers judge NUL
 * and repetition.
 */
export function parseForm(text: string): Fields | undefined {
  const pairs = text.split('&', MAX_PAIRS + 1);
  if (pairs.length > MAX_PAIRS) {
    return undefined;
  }
  const fields = new Map<string, string[]>();
  for (const pair of pairs) {
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

/** Decodes one form value, where `+` is a space. */
export function decodeFormText(text: string): string | undefined {
  if (BROKEN_ESCAPE.test(text) || !text.isWellFormed()) {
    return undefined;
  }
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
