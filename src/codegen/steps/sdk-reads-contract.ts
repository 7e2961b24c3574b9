import { type Document, nameIn, type Operation, type PathItem, placed, type Schema } from '../documents.js';

/** An operation as the SDKs have it; names in backticks are written as each language writes them. */
export interface Read {
  operation: string;
  name: string;
  sentence: string;
  /** Where the generated clients have the operation. */
  group: string;
  inPath: string[];
  /** Only what is required. */
  inQuery: string[];
  /** The model of the answer or of its items, or `string`. */
  record: string;
  isList: boolean;
  /** Of a list with pages. */
  pages?: { name: string; of: string };
}

/** A record, or an enumeration with its values. */
export interface Model {
  name: string;
  values: string[];
}

/** An operation with options of its own. */
const WRITTEN_BY_HAND = 'listChanges';

/** Names other than the id of the operation, and sentences other than the first of its description. */
const OWN: Readonly<Record<string, { name?: string; sentence?: string }>> = {
  getOrganizationStructure: { name: 'organizationStructure' },
  getChangesDigest: {
    sentence: 'Counts and digests of the entities of a client: a copy with the same ones is equal.',
  },
  getWorkerV2: { name: 'getWorker' },
  listInstanceIntegrations: {
    sentence: 'All connections between your integration and instances. Start here.',
  },
  listJobTitles: { name: 'jobTitles' },
  listWorkers: {
    sentence:
      'The workers who are not offboarded, as in version 1: without their place in the organization structure.',
  },
  listWorkersV2: {
    sentence: 'The workers of a client in one answer: with `ifChanged` the cheapest way to stay in sync.',
  },
};

/** Query parameters that need no line of their own here: those of pages. Required ones become arguments. */
const OF_PAGES = ['limit', 'cursor'];

export function readsOf({ paths, components }: Document): Read[] {
  for (const { method, operation } of placed(paths)) {
    assertIs(method === 'get', operation, 'they only read');
  }
  const reads = Object.entries(paths)
    .filter(isRead)
    .map(([path, { get, parameters = [] }]) => {
      const all = [...parameters, ...(get.parameters ?? [])].map(
        (parameter) => components.parameters?.[nameIn(parameter)] ?? parameter,
      );
      const { items } = answerOf(get);
      const [, of = '', list = ''] = /\{(\w+)Id\}\/([\w-]+)$/.exec(path) ?? [];
      const [sentence = ''] = /^.*?\.(?=\s|$)/s.exec(get.description ?? '') ?? [];
      const answer = items ?? answerOf(get);
      const extra = all.find((one) => one.in === 'query' && !one.required && !OF_PAGES.includes(one.name));
      assertIs(extra === undefined, get, `the SDKs would leave out ${extra?.name}`);
      assertIs(
        nameIn(answer) !== '' || answer.type === 'string',
        get,
        'the schema of its answer needs a name',
      );
      assertIs(sentence !== '', get, 'its description needs a sentence');
      assertIs(!get.deprecated, get, 'the SDKs would not say that it is deprecated');
      return {
        operation: get.operationId,
        name: get.operationId,
        // Pages are read by a method of their own.
        sentence: sentence.replace(/\s+/g, ' ').replace(/, or one page of them\b.*(?=\.)/, ''),
        ...OWN[get.operationId],
        group: get.tags?.[0] ?? '',
        inPath: all.flatMap(({ in: place, name }) => (place === 'path' ? name : [])),
        inQuery: all.flatMap(({ in: place, name, required }) => (place === 'query' && required ? name : [])),
        record: nameIn(answer) || 'string',
        isList: items !== undefined,
        ...(all.some(({ name }) => name === 'cursor') && { pages: { name: list.replaceAll('-', ' '), of } }),
      };
    });
  const names = reads.flatMap(({ name, pages }) => [name, ...(pages ? [camel(pages.name)] : [])]);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) {
    throw new Error(`Two reads of the SDKs would have the name ${twice}.`);
  }
  return reads;
}

/** As in the name of a function. */
export const camel = (words: string) => words.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());

function assertIs(isSo: boolean, { operationId }: Operation, fault: string): void {
  if (!isSo) {
    throw new Error(`${operationId} cannot be generated for the SDKs: ${fault}.`);
  }
}

/** Every record and enumeration in the answers to the reads. */
export function modelsOf({ paths, components: { schemas } }: Document): Model[] {
  const found = new Set<string>();
  const visit = (node: unknown) => {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (!found.has(name)) {
        found.add(name);
        visit(schemas[name]);
      }
    }
  };
  const reads = Object.entries(paths).filter(isRead);
  visit(reads.map(([, { get }]) => answerOf(get)));
  return [...found].sort().flatMap((name) => {
    const { type, enum: values = [] } = schemas[name] as Schema;
    return type === 'object' || values.length > 0 ? { name, values: values.map(String) } : [];
  });
}

function isRead(entry: [path: string, item: PathItem]): entry is [string, PathItem & { get: Operation }] {
  return entry[1].get?.operationId !== WRITTEN_BY_HAND;
}

function answerOf({ responses }: Operation): Schema {
  return responses[200]?.content?.['application/json']?.schema ?? {};
}
