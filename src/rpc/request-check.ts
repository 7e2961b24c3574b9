import { type DescField, type DescMessage, fromJson, type JsonValue, ScalarType } from '@bufbuild/protobuf';
import type { FieldViolation } from '../errors/service-error.js';

/** Far more than any request needs; without a limit, the check of a deeper one would exhaust the stack. */
const MOST_LEVELS = 100;

/** Every fault of a request with its path; the library stops at the first. */
export function misfitsOf(message: DescMessage, json: JsonValue, path = ''): FieldViolation[] {
  const reason = faultOf(message, json);
  if (reason === undefined) {
    return [];
  }
  if (path.split('.').length > MOST_LEVELS) {
    return [{ path, message: `must not be more than ${MOST_LEVELS} levels deep` }];
  }
  if (message.typeName.startsWith('google.protobuf.')) {
    // A time or a mask.
    return [{ path, message: typeof json === 'string' ? `does not fit: ${reason}` : 'must be a string' }];
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return [{ path, message: 'must be an object' }];
  }
  const inside = Object.entries(json).flatMap(([name, value]) =>
    inField(message, name, value, path === '' ? name : `${path}.${name}`),
  );
  return inside.length > 0 ? inside : [{ path, message: `does not fit: ${reason}` }];
}

function inField(message: DescMessage, name: string, value: JsonValue, path: string): FieldViolation[] {
  const field = message.fields.find((candidate) => candidate.jsonName === name || candidate.name === name);
  if (!field) {
    return [{ path, message: 'is not a field here' }];
  }
  if (faultOf(message, { [name]: value }) === undefined) {
    return [];
  }
  if (field.fieldKind === 'list') {
    return Array.isArray(value)
      ? value.flatMap((element, index) => inValue(message, field, [element], element, `${path}[${index}]`))
      : [{ path, message: 'must be a list' }];
  }
  return inValue(message, field, value, value, path);
}

/** `given` is what the message gets: the value or, for a repeated field, a list with only this value. */
function inValue(
  message: DescMessage,
  field: DescField,
  given: JsonValue,
  value: JsonValue,
  path: string,
): FieldViolation[] {
  if (field.message) {
    return misfitsOf(field.message, value, path);
  }
  if (faultOf(message, { [field.name]: given }) === undefined) {
    return [];
  }
  const isBrokenText = field.scalar === ScalarType.STRING && typeof value === 'string';
  const words = isBrokenText ? 'valid Unicode, without halves of surrogate pairs' : wordsOf(field);
  return [{ path, message: `must be ${words}` }];
}

/** What the JSON of a field that is no message must be. */
export function wordsOf({ enum: names, scalar }: DescField): string {
  if (names) {
    return `one of ${names.values.map(({ name }) => name).join(', ')}`;
  }
  switch (scalar) {
    case ScalarType.STRING:
      return 'a string';
    case ScalarType.BYTES:
      return 'a string in base64';
    case ScalarType.BOOL:
      return 'true or false';
    default:
      return `a number (${ScalarType[scalar as ScalarType].toLowerCase()})`;
  }
}

function faultOf(message: DescMessage, json: JsonValue): string | undefined {
  try {
    fromJson(message, json);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^cannot decode .*? from JSON: /, '');
  }
}
