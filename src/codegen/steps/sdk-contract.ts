import { type Document, nameIn, placed, type Schema } from '../documents.js';

/** Checks of Python and Go clients on answers, which would fail on additions of later releases. */
const CHECKED_BY_THE_SERVER = new Set([
  'pattern',
  'const',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]);

/** Members that services of earlier releases lack: clients that require them refuse the answers of those. */
const ADDED_LATER: Readonly<Record<string, readonly string[]>> = { WorkerV2: ['offboardedAt'] };

/** Generators repeat the document's description in every file; its summary suffices there. */
export function contractForSdk(contract: Document): Document {
  const { info, ...rest } = structuredClone(contract);
  const responses = placed(rest.paths).flatMap(({ operation }) => Object.values(operation.responses));
  for (const response of responses) {
    if (isWithoutMembers(response.content?.['application/json']?.schema)) {
      delete response.content;
    }
  }
  return { ...rest, info: { ...info, description: info.summary ?? '' } };
}

/** Such a body says nothing, and a method that returned it would change its signature in Go. */
function isWithoutMembers(schema: Schema | undefined): boolean {
  return schema?.type === 'object' && !schema.properties;
}

/** For generators of validators: the server validates. */
export function withoutChecks(contract: Document): Document {
  const tolerant = withoutKeywords(contract) as Document;
  const { schemas } = tolerant.components;
  for (const [name, schema] of Object.entries(schemas)) {
    schema.required = schema.required?.filter((member) => !ADDED_LATER[name]?.includes(member));
    if (schema.discriminator) {
      schemas[name] = flat(schema, schemas);
    }
  }
  return tolerant;
}

function withoutKeywords(node: unknown, isMapOfNames = false): unknown {
  if (Array.isArray(node)) {
    return node.map((item) => withoutKeywords(item));
  }
  if (typeof node !== 'object' || node === null) {
    return node;
  }
  const kept = Object.entries(node).filter(([key]) => isMapOfNames || !CHECKED_BY_THE_SERVER.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, withoutKeywords(value, key === 'properties' && !isMapOfNames)]),
  );
}

/** A choice of objects as one object with all members: generators would need a validation package. */
function flat(choice: Schema, schemas: Record<string, Schema>): Schema {
  const { oneOf = [], discriminator: _, ...rest } = choice;
  const options = oneOf.map((option) => schemas[nameIn(option)] as Schema);
  const [first, ...others] = options.map(({ required = [] }) => required);
  return {
    ...rest,
    type: 'object',
    properties: Object.assign({}, ...options.map(({ properties }) => properties)),
    required: first?.filter((name) => others.every((required) => required.includes(name))),
  };
}
