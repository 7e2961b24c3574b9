import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { nameIn } from '../documents.js';
import { ASYNCAPI_DOCUMENT, BANNER } from '../layout.js';
import { readBundle } from './bundles.js';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type EventContract = Awaited<ReturnType<typeof readEvents>>;

/** The messages of the AsyncAPI document, its schemas, and the events with the names of their payloads. */
export async function readEvents(outDir: string) {
  const { components } = await readBundle(outDir, ASYNCAPI_DOCUMENT);
  const definitions = toDefinitions(components.schemas as Json) as Record<string, JSONSchema>;
  const messages = Object.values(components.messages ?? {});
  const events = messages.map(({ name, payload }) => ({
    name,
    schema: nameIn(payload),
  }));
  return { messages, definitions, events };
}

/** The AsyncAPI document -> a type, a schema and an example for each event. */
export async function generateEventTypes(outDir: string): Promise<void> {
  const { messages, definitions, events } = await readEvents(outDir);
  await writeFile(join(outDir, 'asyncapi/events.ts'), BANNER + (await types(definitions, events)));
  await writeFile(
    join(outDir, 'asyncapi/schemas.ts'),
    schemas(definitions, events, nameIn(messages[0]?.headers)),
  );
  const samples = messages.map(({ name, examples }) => [name, examples[0]?.payload]);
  await writeFile(join(outDir, 'asyncapi/examples.ts'), examplesOf(Object.fromEntries(samples)));
}

function examplesOf(samples: object): string {
  return `${BANNER}import type { EventsByType, EventType } from './events.js';

/** The first example of each event type, in the order of the contract. */
export const exampleEvents: { readonly [T in EventType]: EventsByType[T] } = ${JSON.stringify(samples, null, 2)};
`;
}

async function types(definitions: Record<string, JSONSchema>, events: { name: string; schema: string }[]) {
  const typed = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, withIdType(schema)]),
  );
  const compiled = await compile(
    { title: 'EventSchemas', definitions: typed } as JSONSchema,
    'EventSchemas',
    {
      bannerComment: '',
      additionalProperties: false,
      unreachableDefinitions: true,
      format: true,
    },
  );
  const map = events.map(({ name, schema }) => `  '${name}': ${schema};`).join('\n');
  const withoutRoot = compiled
    .replace(/export interface EventSchemas \{[^}]*\}\n/, '')
    .replaceAll(NOTE, '')
    .replaceAll(EMPTY_COMMENT, '');
  return `${withoutRoot}
/** Each event by its type. */
export interface EventsByType {
${map}
}

export type EventType = keyof EventsByType;
export type WebhookEvent = EventsByType[EventType];
`;
}

/** A remark of the compiler about the use of a type, of no use to readers. */
const NOTE =
  /( \*\n)? \* This interface was referenced by `EventSchemas`'s JSON-Schema\n \* via the `definition` "[^"]*"\.\n/g;
const EMPTY_COMMENT = /\/\*\*\n \*\/\n/g;

/** A public id is a text with its prefix. */
function withIdType(schema: JSONSchema): JSONSchema {
  const prefix = /^\^(\w{3})_/.exec(schema.pattern ?? '')?.[1];
  return prefix ? { ...schema, tsType: `\`${prefix}_\${string}\`` } : schema;
}

function schemas(definitions: unknown, events: { name: string; schema: string }[], headers: string): string {
  const rows = events.map(({ name, schema }) => `  '${name}': '#/definitions/${schema}',`).join('\n');
  return `${BANNER}
/** JSON Schema (draft 7) of every payload; compile it with ajv under an id of your choice. */
export const eventSchemas = ${JSON.stringify({ definitions }, null, 2)} as const;

/** Where in it the payload of each event type stands. */
export const payloadSchemaOf = {
${rows}
} as const;

/** Where in it the request headers of every delivery stand. */
export const HEADERS_SCHEMA = '#/definitions/${headers}';
`;
}

/** References into the AsyncAPI document become references to definitions. */
function toDefinitions(value: Json): Json {
  if (Array.isArray(value)) {
    return value.map(toDefinitions);
  }
  if (value === null || typeof value !== 'object') {
    return typeof value === 'string' ? value.replace('#/components/schemas/', '#/definitions/') : value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'examples' && !key.startsWith('x-'))
      .map(([key, member]) => [key, toDefinitions(member)]),
  );
}
