import { isUtf8 } from 'node:buffer';

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

/** A parsed Authorization header, or that it is malformed. */
type Authorization =
  | { scheme: 'basic'; username: string; password: string }
  | { scheme: 'bearer'; token: string }
  | { scheme: 'other' }
  | { scheme: 'malformed'; wanted: 'basic' | 'bearer' };

const SCHEME = /^([!#$%&'*+.^_`|~\w-]+)(?: +(.*))?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
const B64TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** HTTP forbids control characters in both halves of Basic (RFC 7617). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Strict: what two parsers could read differently is malformed, such as two headers joined by a comma. */
export function parseAuthorization(header: string): Authorization {
  const [, scheme = '', credentials = ''] = SCHEME.exec(header) ?? [];
  switch (scheme.toLowerCase()) {
    case 'basic':
      return parseBasic(credentials) ?? { scheme: 'malformed', wanted: 'basic' };
    case 'bearer':
      return B64TOKEN.test(credentials)
        ? { scheme: 'bearer', token: credentials }
        : { scheme: 'malformed', wanted: 'bearer' };
    default:
      return { scheme: 'other' };
  }
}

/** OAuth form-encodes both halves before they are joined (RFC 6749, section 2.3.1). */
function parseBasic(credentials: string): Authorization | undefined {
  const bytes = Buffer.from(BASE64.test(credentials) ? credentials : '', 'base64');
  const text = isUtf8(bytes) ? bytes.toString() : '';
  const colon = text.indexOf(':');
  if (colon < 0) {
    return undefined;
  }
  const username = decodeFormText(text.slice(0, colon));
  const password = decodeFormText(text.slice(colon + 1));
  if (username === undefined || password === undefined || CONTROL.test(username + password)) {
    return undefined;
  }
  return { scheme: 'basic', username, password };
}
