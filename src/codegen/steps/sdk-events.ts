import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JSONSchema } from 'json-schema-to-typescript';
import { nameIn } from '../documents.js';
import { BANNER, GO_BANNER } from '../layout.js';
import { type EventContract, readEvents } from './event-types.js';

type Definitions = EventContract['definitions'];

/** What the gateway has at the links of events, by the beginning of their types. The SDKs have this order. */
const RECORDS = {
  'client.': 'TenantClient',
  'user.': 'User',
  'worker.': 'WorkerV2',
  organization_: 'OrganizationStructure',
};

/** Schemas of parts of data that the gateway does not have, with what Go says of them. */
const PARTS: Record<string, string> = {
  NamedUnitType: 'is a layer of the organization structure.',
  EmbeddedUnit: 'was created together with its type.',
};

/** Data that extend others in Python; Go has one type for both. */
const PARENTS: Record<string, string> = {
  OrganizationLocationDeletedData: 'OrganizationLocationCreatedData',
};

/** Fields whose comment in Go says when they are set. */
const NIL_UNLESS: Record<string, string> = {
  offboardedAt: 'the worker was offboarded',
  deletedAt: 'the location was deleted',
};

const PYTHON: Record<string, string> = { string: 'str', 'date-time': 'datetime' };
const GO: Record<string, string> = { string: 'string', 'date-time': 'time.Time' };

/** The AsyncAPI document -> the event types of the SDKs in Python and Go. */
export async function generateSdkEvents(outDir: string): Promise<void> {
  const types = typesOf(await readEvents(outDir));
  await writeFile(join(outDir, 'asyncapi/events.py'), pythonModule(types));
  await writeFile(join(outDir, 'asyncapi/events.go'), goFile(types));
}

type Types = ReturnType<typeof typesOf>;
type Field = ReturnType<typeof fieldsOf>[number];

/** The events, and the fields of each class by its schema. */
function typesOf({ definitions, events: contract }: EventContract) {
  const beginnings = Object.keys(RECORDS);
  const other = contract.find(({ name }) => !beginnings.some((beginning) => name.startsWith(beginning)));
  if (other) {
    throw new Error(`RECORDS does not say what the gateway has at the links of ${other.name}.`);
  }
  const events = Object.entries(RECORDS).flatMap(([beginning, record]) =>
    contract
      .filter(({ name }) => name.startsWith(beginning))
      .map(({ name: type, schema }) => {
        const data = typeOf(definitions[schema]?.properties?.data, definitions);
        return { type, name: schema.replace(/Event$/, ''), data, record };
      }),
  );
  const schemas = [...Object.keys(PARTS), ...events.map(({ data }) => data)];
  return { events, classes: new Map(schemas.map((schema) => [schema, fieldsOf(schema, definitions)])) };
}

function fieldsOf(schema: string, definitions: Definitions) {
  const { properties, required } = definitions[schema] as JSONSchema;
  return Object.entries(properties ?? {}).map(([name, value]) => {
    const one = value.oneOf?.[0] ?? value;
    const [item = one] = [one.items ?? []].flat();
    const isOptional = ![required].flat().includes(name);
    const mayBeNull = isOptional || one !== value || Array.isArray(value.type);
    return { name, type: typeOf(item, definitions), isList: item !== one, isOptional, mayBeNull };
  });
}

/** The name of the schema, if it has a class; else a key of PYTHON and GO. */
function typeOf({ $ref = '', ...schema }: JSONSchema = {}, definitions: Definitions): string {
  const name = nameIn({ $ref });
  const { properties, enum: values, type, format } = definitions[name] ?? schema;
  if (name && (properties || values)) {
    return name;
  }
  const key = format === 'date-time' ? format : String([type].flat()[0]);
  if (!(key in PYTHON) || values || Array.isArray(definitions[name]?.type)) {
    const text = name || JSON.stringify(schema);
    throw new Error(`The SDKs have no type for ${text}: use a text, a time, or a schema with a name.`);
  }
  return key;
}

const sdkName = (schema: string) => schema.replace(/EventData$/, 'Data').replace(/^\w+Links$/, 'Links');

function pythonModule({ events, classes }: Types): string {
  const data = [...classes].map(([schema, fields]) => {
    const { [schema]: parent = schema in PARTS ? '_Received' : '_Data' } = PARENTS;
    const inherited = ['links', ...(classes.get(parent) ?? []).map(({ name }) => name)];
    const own = fields.filter(({ name }) => !inherited.includes(name));
    return `class ${sdkName(schema)}(${parent}):\n${own.map(pythonField).join('')}`;
  });
  const used = [...classes.values()].flat().map(({ type }) => sdkName(type));
  const declared = ['Links', ...classes.keys(), ...Object.keys(PYTHON)];
  const models = [...used.filter((type) => !declared.includes(type)), ...Object.values(RECORDS)];
  const known = events.map(
    (event) => `class ${event.name}(Event[${event.record}]):
    type: Literal["${event.type}"]
    data: ${sdkName(event.data)}
`,
  );
  return `"""The events of webhooks. Attributes are in snake case: \`\`event.data.full_name\`\`."""

${BANNER.replace('//', '#')}
from __future__ import annotations

from datetime import datetime
from typing import Literal, Union

from ._event import Entity as Entity
from ._event import Event as Event
from ._event import Links as Links
from ._event import UnknownEvent as UnknownEvent
from ._event import _Data, _Received
from .models import ${[...new Set(models)].sort().join(', ')}


${[...data, ...known].join('\n\n')}

KnownEvent = Union[
${events.map(({ name }) => `    ${name},\n`).join('')}]

WebhookEvent = Union[KnownEvent, UnknownEvent]
"""\`\`isinstance\`\` narrows it."""
`;
}

function pythonField({ name, type, isList, isOptional, mayBeNull }: Field): string {
  const attribute = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const item = PYTHON[type] ?? sdkName(type);
  const value = `${isList ? `list[${item}]` : item}${mayBeNull ? ' | None' : ''}`;
  return `    ${attribute}: ${value}${isOptional ? ' = None' : ''}\n`;
}

function goFile({ events, classes }: Types): string {
  const usersOf = (type: string) =>
    events.filter(({ data }) => goName(data) === type).map(({ name }) => name);
  // Of schemas with the same name in Go, the last has all fields.
  const structs = [...new Map([...classes].map(([schema, fields]) => [goName(schema), fields]))];
  const types = structs.map(([name, fields]) => {
    const comment = PARTS[name] ?? `belongs to ${usersOf(name).join(' and ')}.`;
    return `// ${name} ${comment}\ntype ${name} struct {\n${goFields(fields)}}\n`;
  });
  const cases = structs
    .filter(([name]) => !(name in PARTS))
    .map(([name]) => `\tcase ${usersOf(name).join(', ')}:\n\t\treturn &${name}{}\n`);
  return `${GO_BANNER}
package sdk

import "time"

const (
${inColumns(events.map(({ name, type }) => [name, `EventType = "${type}"`]))})

${types.join('\n')}
func newData(eventType EventType) any {
	switch eventType {
${cases.join('')}	}
	return nil
}
`;
}

const goName = (schema: string) => sdkName(schema).replace(/^(OrganizationLocation)(Created|Deleted)/, '$1');

/** As gofmt aligns them: a comment begins new columns. */
function goFields(fields: readonly Field[]): string {
  const begins = fields.flatMap(({ name }, place) => (place === 0 || name in NIL_UNLESS ? place : []));
  return begins
    .map((begin, place) => {
      const [first, ...others] = fields.slice(begin, begins[place + 1]) as [Field, ...Field[]];
      const { [first.name]: reason } = NIL_UNLESS;
      const comment = reason === undefined ? '' : `\t// ${goFieldName(first)} is nil unless ${reason}.\n`;
      return comment + inColumns([first, ...others].map(goField));
    })
    .join('');
}

function goField(field: Field): string[] {
  const { name, type, isList, mayBeNull } = field;
  const pointer = mayBeNull || name in NIL_UNLESS ? '*' : '';
  return [goFieldName(field), `${isList ? '[]' : pointer}${GO[type] ?? sdkName(type)}`, `\`json:"${name}"\``];
}

function goFieldName({ name }: Field): string {
  return name.replace(/^\w/, (letter) => letter.toUpperCase()).replace(/Id$/, 'ID');
}

function inColumns(rows: readonly string[][]): string {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows
    .map(
      (row) =>
        `\t${row
          .map((cell, column) => cell.padEnd(widthOf(column)))
          .join(' ')
          .trimEnd()}\n`,
    )
    .join('');
}
