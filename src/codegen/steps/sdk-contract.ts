interface Contract {
  info: { description: string; summary: string };
  components: { schemas: Record<string, Schema> };
}

type Schema = Record<string, unknown> & {
  properties?: Record<string, unknown>;
  required?: string[];
  oneOf?: { $ref: string }[];
  discriminator?: unknown;
};

/** What the Python and Go clients would check in answers, only to break on what a later release may send. */
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

/** The generators repeat the description of the document at the head of every file; its summary is enough there. */
export function contractForSdk<T extends object>(contract: T): T {
  const { info, ...rest } = contract as T & Contract;
  return { ...rest, info: { ...info, description: info.summary } } as T;
}

/** For generators that write validators: what is right and wrong is for the server to say. */
export function withoutChecks<T extends object>(contract: T): T {
  const tolerant = withoutKeywords(contract) as T & Contract;
  const { schemas } = tolerant.components;
  for (const [name, schema] of Object.entries(schemas)) {
    if (schema.discriminator) schemas[name] = flat(schema, schemas);
  }
  return tolerant;
}

function withoutKeywords(node: unknown, isMapOfNames = false): unknown {
  if (Array.isArray(node)) return node.map((item) => withoutKeywords(item));
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(([key]) => isMapOfNames || !CHECKED_BY_THE_SERVER.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, withoutKeywords(value, key === 'properties' && !isMapOfNames)]),
  );
}

/** A choice between objects as one object with the members of all: generators need a package of validators to tell them apart. */
function flat(choice: Schema, schemas: Record<string, Schema>): Schema {
  const { oneOf = [], discriminator: _, ...rest } = choice;
  const options = oneOf.map(({ $ref }) => schemas[$ref.slice($ref.lastIndexOf('/') + 1)] as Schema);
  const [first, ...others] = options.map(({ required = [] }) => required);
  return {
    ...rest,
    type: 'object',
    properties: Object.assign({}, ...options.map(({ properties }) => properties)),
    required: first?.filter((name) => others.every((required) => required.includes(name))),
  };
}
