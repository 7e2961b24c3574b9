import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'yaml';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
export type ExampleKind = 'schema' | 'parameter' | 'header' | 'body' | 'message headers' | 'message payload';

/** A contract file: its address, which relative references start from, and its parsed text. */
export interface ContractFile {
  name: string;
  uri: string;
  root: JsonObject;
}

/** Something that has a schema, and the examples the document gives of it. */
export interface ExampleSite {
  kind: ExampleKind;
  pointer: string;
  mediaType?: string;
  examples: { label: string; value: Json }[];
}

const openapiFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'openapi');
const NOT_A_CONTRACT = new Set(['redocly.yaml']);
/** Keywords with data as values, in which schemas are not searched. */
const DATA_KEYWORDS = new Set(['example', 'examples', 'const', 'enum', 'default', 'value', 'required']);
/** Keywords with member names by the author, where a name such as `examples` has no meaning. */
const NAME_MAPS = new Set(['properties', 'patternProperties', '$defs', 'headers', 'schemas', 'parameters']);
const SCHEMA_KEYWORDS = ['type', '$ref', 'oneOf', 'anyOf', 'allOf', 'const', 'enum', 'pattern'];

export function loadContracts(): ContractFile[] {
  const paths = [openapiFolder, join(openapiFolder, 'shared')].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.yaml') && !NOT_A_CONTRACT.has(name))
      .map((name) => join(folder, name)),
  );
  return paths.map((path) => ({
    name: basename(path),
    uri: pathToFileURL(path).href,
    root: parse(readFileSync(path, 'utf8'), { maxAliasCount: -1 }) as JsonObject,
  }));
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a JSON pointer, or undefined. */
export function at(root: Json, pointer: string): Json | undefined {
  const tokens = pointer.split('/').slice(1);
  return tokens.reduce<Json | undefined>((value, token) => {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      return value[Number(key)];
    }
    return isObject(value) ? value[key] : undefined;
  }, root);
}

/** Every place of a document for an example, with or without one (schemas: only with one). */
export function findExampleSites(file: ContractFile): ExampleSite[] {
  const sites: ExampleSite[] = [];
  const visit = (node: Json, pointer: string, namesOnly: boolean, key: string) => {
    if (Array.isArray(node)) {
      for (const [index, item] of node.entries()) {
        visit(item, `${pointer}/${index}`, false, key);
      }
    } else if (isObject(node)) {
      if (!namesOnly) {
        sites.push(...sitesOf(file, node, pointer));
      }
      for (const [name, value] of Object.entries(node)) {
        if (!namesOnly && DATA_KEYWORDS.has(name)) {
          continue;
        }
        visit(value, `${pointer}/${escapeToken(name)}`, !namesOnly && isNameMap(name, node), name);
      }
    }
  };
  visit(file.root, '', false, '');
  return sites;
}

/** In a message `headers` is one schema; everywhere else it is a map of headers. */
function isNameMap(name: string, parent: JsonObject): boolean {
  return NAME_MAPS.has(name) && !(name === 'headers' && 'payload' in parent);
}

function sitesOf(file: ContractFile, node: JsonObject, pointer: string): ExampleSite[] {
  if ('payload' in node && 'name' in node) {
    return messageSites(node, pointer);
  }
  if (isObject(node.schema)) {
    return [valueSite(file, node, pointer)];
  }
  const isSchema = SCHEMA_KEYWORDS.some((keyword) => keyword in node);
  const own = Array.isArray(node.examples) ? node.examples : [];
  const values = 'example' in node ? [...own, node.example as Json] : own;
  if (!isSchema || values.length === 0) {
    return [];
  }
  return [{ kind: 'schema', pointer, examples: values.map((value, i) => ({ label: `${i}`, value })) }];
}

function messageSites(message: JsonObject, pointer: string): ExampleSite[] {
  const examples = (Array.isArray(message.examples) ? message.examples : []).filter(isObject);
  const pick = (part: 'headers' | 'payload') =>
    examples.map((example) => ({ label: String(example.name), value: example[part] ?? null }));
  return [
    { kind: 'message headers', pointer: `${pointer}/headers`, examples: pick('headers') },
    { kind: 'message payload', pointer: `${pointer}/payload`, examples: pick('payload') },
  ];
}

function valueSite(file: ContractFile, node: JsonObject, pointer: string): ExampleSite {
  const named = isObject(node.examples) ? Object.entries(node.examples) : [];
  const examples = named.map(([label, entry]) => ({ label, value: exampleValue(file, entry) }));
  if ('example' in node) {
    examples.push({ label: 'example', value: node.example as Json });
  }
  const parent = pointer.split('/').at(-2);
  if ('in' in node) {
    return { kind: 'parameter', pointer: `${pointer}/schema`, examples };
  }
  if (parent === 'headers') {
    return { kind: 'header', pointer: `${pointer}/schema`, examples };
  }
  const mediaType = pointer.split('/').at(-1)?.replaceAll('~1', '/');
  return { kind: 'body', pointer: `${pointer}/schema`, examples, ...(mediaType ? { mediaType } : {}) };
}

function exampleValue(file: ContractFile, entry: Json): Json {
  if (!isObject(entry)) {
    return entry;
  }
  if (typeof entry.$ref !== 'string') {
    return entry.value ?? null;
  }
  if (!entry.$ref.startsWith('#')) {
    throw new Error(`${file.name}: example in another file: ${entry.$ref}`);
  }
  return exampleValue(file, at(file.root, entry.$ref.slice(1)) ?? null);
}

function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Whether the schema shows a value: by an example, or by listing its values. */
export function schemaShowsValue(files: ContractFile[], file: ContractFile, pointer: string): boolean {
  const schema = at(file.root, pointer);
  if (!isObject(schema)) {
    return false;
  }
  if (['examples', 'example', 'const', 'enum'].some((keyword) => keyword in schema)) {
    return true;
  }
  if (typeof schema.$ref !== 'string') {
    return false;
  }
  const target = new URL(schema.$ref, file.uri);
  const targetFile = files.find(({ uri }) => uri === target.href.replace(target.hash, ''));
  return (
    targetFile !== undefined && schemaShowsValue(files, targetFile, decodeURIComponent(target.hash.slice(1)))
  );
}
