import { isUtf8 } from 'node:buffer';
import type { Operation } from 'openapi-backend';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { announcesBody, BodyRefusal } from '../http/exchange.js';
import { type Fields, MAX_PAIRS, parseForm } from '../http/parsers.js';
import type { RoutedRequest } from './document-router.js';
import { judgesItself } from './validation.js';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

/** A parsed body, by its media type; not validated yet. */
export type ParsedBody =
  | { kind: 'none' }
  | { kind: 'form'; fields: Fields }
  | { kind: 'json'; members: ReadonlyMap<string, unknown> }
  | { kind: 'malformed'; message: string };

/** Reads the body of operations that have one. A form that the document validates must parse. */
export async function takeBody(at: RoutedRequest): Promise<void> {
  const { operation } = at;
  const content = contentOf(operation);
  const mediaTypes = Object.keys(content);
  if (!operation || mediaTypes.length === 0) {
    return;
  }
  at.body = await parseBody(at, mediaTypes);
  if (judgesItself(operation)) {
    return;
  }
  if (at.body.kind === 'malformed') {
    throw new ServiceError(ErrorCode.INVALID_REQUEST, at.body.message);
  }
  if (at.body.kind === 'form') {
    const schema = content[FORM]?.schema as { properties?: object } | undefined;
    at.requestBody = formObject(at.body.fields, Object.keys(schema?.properties ?? {}));
  }
}

function contentOf({ requestBody }: Partial<Operation> = {}) {
  return requestBody && 'content' in requestBody ? requestBody.content : {};
}

async function parseBody(request: RoutedRequest, mediaTypes: readonly string[]): Promise<ParsedBody> {
  const { headers } = request;
  if (!announcesBody(headers)) {
    return { kind: 'none' };
  }
  const bytes = await request.readBody();
  // Also in chunks, without a type.
  if (bytes.length === 0) {
    return { kind: 'none' };
  }
  const mediaType = mediaTypeOf(headers['content-type'] ?? '');
  if (mediaType === undefined || !mediaTypes.includes(mediaType)) {
    throw new BodyRefusal(415, `Send ${mediaTypes.join(' or ')}, in UTF-8.`);
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new BodyRefusal(415, 'Send the body without a Content-Encoding.');
  }
  if (!isUtf8(bytes)) {
    return { kind: 'malformed', message: 'The body is not UTF-8.' };
  }
  const text = bytes.toString();
  return mediaType === JSON_TYPE ? jsonBody(text) : formBody(text);
}

/** Strings and brackets. No valid request has more; a body has room for 21,800, slow to check. */
const MAX_TOKENS = 4 * MAX_PAIRS;
const NO_OBJECT = `The body is not a JSON object with each member once, or has more than ${MAX_TOKENS} strings and brackets.`;

function jsonBody(text: string): ParsedBody {
  const members = parseJsonObject(text);
  return members ? { kind: 'json', members } : { kind: 'malformed', message: NO_OBJECT };
}

function formBody(text: string): ParsedBody {
  const fields = parseForm(text);
  return fields
    ? { kind: 'form', fields }
    : { kind: 'malformed', message: `The form is not well encoded, or has more than ${MAX_PAIRS} fields.` };
}

/** The documented fields of a form. A repeated one becomes a list, which no schema accepts. Refuses NUL. */
function formObject(fields: Fields, names: readonly string[]): Record<string, string | readonly string[]> {
  const object: Record<string, string | readonly string[]> = {};
  for (const name of names) {
    const values = fields.get(name) ?? [];
    const [only = ''] = values;
    if (values.some((value) => value.includes('\0'))) {
      throw new ServiceError(ErrorCode.INVALID_REQUEST, `The field ${name} has a NUL in it.`);
    }
    if (values.length > 0) {
      object[name] = values.length === 1 ? only : values;
    }
  }
  return object;
}

/** A media type with at most one parameter, which can only be the charset. */
const MEDIA_TYPE = /^([\w!#$&^.+-]+\/[\w!#$&^.+-]+)[ \t]*(?:;[ \t]*charset=("?)([\w-]+)\2[ \t]*)?;?$/i;

/** Charsets whose first 128 characters are those of ASCII. */
const CHARSETS_OF_FORMS = /^(utf-?8|us-ascii|iso-8859-\d+|latin1|windows-125\d)$/;

/**
 * The media type of a header, in lower case; undefined if malformed or not UTF-8. A form may name a charset
 * that extends ASCII: it consists of ASCII, and its escapes are UTF-8 (RFC 6749, appendix B).
 */
export function mediaTypeOf(contentType: string): string | undefined {
  const match = MEDIA_TYPE.exec(contentType.trim());
  const type = match?.[1]?.toLowerCase();
  const charset = match?.[3]?.toLowerCase() ?? 'utf-8';
  const accepted = type === FORM ? CHARSETS_OF_FORMS : /^utf-?8$/;
  return accepted.test(charset) ? type : undefined;
}

const MAX_DEPTH = 16;

/** In valid JSON: a string, with the colon that makes it a name, or a bracket. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/** Undefined where parsers may disagree (repeated names, invalid UTF-16, deep nesting), and for too much. */
export function parseJsonObject(text: string): ReadonlyMap<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && isUnambiguous(text) ? new Map(Object.entries(value as object)) : undefined;
}

/** JSON.parse has checked the grammar, so names and brackets suffice. */
function isUnambiguous(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  let tokens = 0;
  for (const [token, colon] of text.matchAll(TOKEN)) {
    tokens += 1;
    if (tokens > MAX_TOKENS) {
      return false;
    }
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined);
      if (open.length > MAX_DEPTH) {
        return false;
      }
    } else if (token === '}' || token === ']') {
      open.pop();
    } else {
      const written = JSON.parse(colon === undefined ? token : token.slice(0, -colon.length)) as string;
      const names = colon === undefined ? undefined : open.at(-1);
      if (!written.isWellFormed() || names?.has(written)) {
        return false;
      }
      names?.add(written);
    }
  }
  return true;
}
