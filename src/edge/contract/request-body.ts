import { isUtf8 } from 'node:buffer';
import type { Operation } from 'openapi-backend';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { BodyRefusal } from '../http/body-refusal.js';
import type { HttpRequest } from '../http/exchange.js';
import { type Fields, parseForm } from '../http/form.js';
import { mediaTypeOf } from '../http/media-type.js';
import { parseJsonObject } from '../http/strict-json.js';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

/** A parsed body, by its media type; not validated yet. */
export type ParsedBody =
  | { kind: 'none' }
  | { kind: 'form'; fields: Fields }
  | { kind: 'json'; members: ReadonlyMap<string, unknown> }
  | { kind: 'malformed'; message: string };

/** The media types that an operation accepts; none where it has no body. */
export function mediaTypesOf(operation: Operation): string[] {
  const { requestBody } = operation;
  return requestBody && 'content' in requestBody ? Object.keys(requestBody.content) : [];
}

/** Reads and parses the body of an operation that has one. */
export async function parseBody(request: HttpRequest, mediaTypes: readonly string[]): Promise<ParsedBody> {
  const { headers } = request;
  const announced = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!announced) {
    return { kind: 'none' };
  }
  const mediaType = mediaTypeOf(headers['content-type'] ?? '');
  const encoding = headers['content-encoding'] ?? 'identity';
  if (mediaType === undefined || !mediaTypes.includes(mediaType) || encoding !== 'identity') {
    throw new BodyRefusal(415, `Send ${mediaTypes.join(' or ')}, in UTF-8.`);
  }
  const bytes = await request.readBody();
  if (bytes.length === 0) {
    return { kind: 'none' };
  }
  if (!isUtf8(bytes)) {
    return { kind: 'malformed', message: 'The body is not UTF-8.' };
  }
  const text = bytes.toString();
  return mediaType === JSON_TYPE ? jsonBody(text) : formBody(text);
}

function jsonBody(text: string): ParsedBody {
  const members = parseJsonObject(text);
  return members
    ? { kind: 'json', members }
    : { kind: 'malformed', message: 'The body is not a JSON object with each member once.' };
}

function formBody(text: string): ParsedBody {
  const fields = parseForm(text);
  return fields ? { kind: 'form', fields } : { kind: 'malformed', message: 'The form is not well encoded.' };
}

/** The documented fields of a form. A repeated one becomes a list, which no schema accepts. Refuses NUL. */
export function formObject(
  { fields }: { fields: Fields },
  operation: Operation,
): Record<string, string | readonly string[]> {
  const object: Record<string, string | readonly string[]> = {};
  for (const name of Object.keys(propertiesOf(operation))) {
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

function propertiesOf({ requestBody }: Operation): object {
  const schema =
    requestBody && 'content' in requestBody
      ? (requestBody.content[FORM]?.schema as { properties?: object } | undefined)
      : undefined;
  return schema?.properties ?? {};
}
