import type { PackageDefinition } from '@grpc/proto-loader';
import type { FieldViolation } from '../errors/service-error.js';

interface Field {
  name: string;
  label: string;
  type: string;
  typeName: string;
}

interface Message {
  fullName: string;
  fields: readonly Field[];
}

const NUMERIC = /^TYPE_(DOUBLE|FLOAT|S?FIXED|[SU]?INT)/;

/**
 * What of a request does not fit its message. The loader itself would drop a misspelt field and make nothing of a wrong value, and the
 * server would do something other than what was meant.
 */
export function misfitsOf(
  packages: PackageDefinition,
  scope: string,
  type: string,
  request: object,
): FieldViolation[] {
  const message = messageNamed(packages, scope, type);
  return message ? inMessage(packages, message, request, '') : [];
}

function inMessage(
  packages: PackageDefinition,
  message: Message,
  value: unknown,
  path: string,
): FieldViolation[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ path, message: 'must be an object' }];
  }
  return Object.entries(value).flatMap(([name, given]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const field = message.fields.find((candidate) => candidate.name === name);
    if (!field) {
      return [{ path: at, message: 'is not a field here' }];
    }
    // As on the wire: null says nothing.
    return given === null ? [] : inField(packages, message, field, given, at);
  });
}

function inField(
  packages: PackageDefinition,
  { fullName }: Message,
  field: Field,
  value: unknown,
  path: string,
): FieldViolation[] {
  const one = (given: unknown, at: string): FieldViolation[] => {
    if (field.type === 'TYPE_MESSAGE') {
      const message = messageNamed(packages, fullName, field.typeName);
      return message ? inMessage(packages, message, given, at) : [];
    }
    const wanted = wantedOf(packages, fullName, field);
    return wanted.fits(given) ? [] : [{ path: at, message: `must be ${wanted.words}` }];
  };
  if (field.label !== 'LABEL_REPEATED') {
    return one(value, path);
  }
  return Array.isArray(value)
    ? value.flatMap((element, index) => one(element, `${path}[${index}]`))
    : [{ path, message: 'must be a list' }];
}

function wantedOf(packages: PackageDefinition, scope: string, { type, typeName }: Field) {
  if (NUMERIC.test(type)) {
    // Text too, for what JSON numbers cannot hold.
    const isNumber = (value: unknown) =>
      typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value));
    return { words: 'a number', fits: isNumber };
  }
  if (type === 'TYPE_BOOL') {
    return { words: 'true or false', fits: (value: unknown) => typeof value === 'boolean' };
  }
  if (type === 'TYPE_ENUM') {
    const names = enumNames(packages, scope, typeName);
    const fits = (value: unknown) => names === undefined || names.includes(value as string);
    return { words: `one of ${names?.join(', ')}`, fits };
  }
  return { words: 'a text', fits: (value: unknown) => typeof value === 'string' };
}

function messageNamed(packages: PackageDefinition, scope: string, name: string): Message | undefined {
  const found = resolve(packages, scope, name);
  const { field } = (found?.type ?? {}) as { field?: Field[] };
  return found && field ? { fullName: found.fullName, fields: field } : undefined;
}

function enumNames(packages: PackageDefinition, scope: string, name: string): string[] | undefined {
  const { value } = (resolve(packages, scope, name)?.type ?? {}) as { value?: { name: string }[] };
  return value?.map((one) => one.name);
}

/** A name is looked for where it stands, then in each scope around it, as protobuf does. */
function resolve(packages: PackageDefinition, scope: string, name: string) {
  const scopes = scope.split('.');
  for (let depth = scopes.length; depth >= 0; depth -= 1) {
    const fullName = [...scopes.slice(0, depth), name.replace(/^\./, '')].join('.');
    const found = packages[fullName];
    if (found && 'format' in found) {
      return { fullName, type: found.type as object };
    }
  }
  return undefined;
}
