import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  type DescMethod,
  fromBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { methodsWithinInstance } from '../../../generated/proto/rights.js';
import { packageRoot } from '../../config/package.js';
import { callersOf, ROLE_RIGHTS } from '../../rpc/callers.js';
import { wordsOf } from '../../rpc/request-check.js';
import { methodOf, shortName } from './method-names.js';
import { print } from './output/print.js';

const INDENT = '    ';

/** Message types that protobuf's JSON writes as a string. */
const KNOWN_TYPES: Readonly<Record<string, string>> = {
  'google.protobuf.Timestamp': 'a time, such as "2027-01-31T12:00:00Z"',
  'google.protobuf.FieldMask': 'names of fields with commas between, such as "name,address"',
};

/** Explains a method from the contract of this release, without a connection. */
export function printHelpOf(methodName: string): void {
  print(helpOf(methodOf(publicMethods(), methodName), comments()));
}

function publicMethods(): DescMethod[] {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(inContract('descriptors.binpb')));
  const services = [...createFileRegistry(set)].filter((one) => one.kind === 'service');
  return services
    .flatMap(({ methods }) => methods)
    .filter(({ parent, name }) =>
      callersOf(`/${parent.typeName}/${name}`).some((caller) => !ROLE_RIGHTS.has(caller)),
    );
}

type Comments = Readonly<Record<string, string>>;

function comments(): Comments {
  return JSON.parse(readFileSync(inContract('comments.json'), 'utf8'));
}

function inContract(name: string): string {
  return join(packageRoot, 'generated/proto', name);
}

function helpOf(method: DescMethod, about: Comments): string {
  const { parent, name, input, output, methodKind } = method;
  const isMany = methodKind === 'server_streaming' || methodKind === 'bidi_streaming';
  const path = `/${parent.typeName}/${name}`;
  const fields = input.fields.length === 0 ? 'It has no fields.' : fieldsOf(input, about).join('\n');
  return [
    `Usage: integration call ${shortName(method)} ${input.fields.length === 0 ? '' : "'{…}'"}`.trimEnd(),
    about[`${parent.typeName}.${name}`],
    `Answers ${isMany ? 'with a stream of' : 'with'} ${output.name}. Rights: ${rightsOf(path)}.`,
    `${input.name}, in the JSON of protobuf; snake_case names are accepted too:\n\n${fields}`,
  ]
    .filter((part) => part !== undefined)
    .join('\n\n');
}

function rightsOf(path: string): string {
  const callers = callersOf(path);
  const isOfAll = callers.includes('platform') && !methodsWithinInstance.has(path);
  return `${callers.join(', ')}${isOfAll ? '; not for tokens of one instance' : ''}`;
}

function fieldsOf(
  message: DescMessage,
  about: Comments,
  indent = '  ',
  above: readonly DescMessage[] = [message],
): string[] {
  return message.fields.flatMap((field) => {
    const comment = about[`${message.typeName}.${field.name}`];
    return [
      `${indent}${field.jsonName}  ${typeOf(field)}`,
      ...(comment === undefined ? [] : [`${indent}${INDENT}${comment}`]),
      ...(isExplained(field.message) && !above.includes(field.message)
        ? fieldsOf(field.message, about, indent + INDENT, [...above, field.message])
        : []),
    ];
  });
}

/** Protobuf does not say which fields are required; what may be absent is declared optional. */
function typeOf(field: DescField): string {
  const { message, oneof } = field;
  const words = message ? (KNOWN_TYPES[message.typeName] ?? `an object (${message.name})`) : wordsOf(field);
  if (field.fieldKind === 'list') {
    return `a list, each ${words}`;
  }
  if (oneof) {
    return `${words}; only one of ${oneof.fields.map(({ jsonName }) => jsonName).join(', ')}`;
  }
  return field.proto.proto3Optional ? `${words}; optional` : words;
}

function isExplained(message: DescMessage | undefined): message is DescMessage {
  return message !== undefined && KNOWN_TYPES[message.typeName] === undefined;
}
