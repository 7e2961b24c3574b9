import type { Question } from '../support/http-exchange.js';

type Reference = { $ref?: string };
interface Exampled extends Reference {
  example?: unknown;
  examples?: Record<string, Reference & { value?: unknown }>;
  schema?: Reference & { examples?: unknown[]; default?: unknown };
}
interface Parameter extends Exampled {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required?: boolean;
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: Reference & { content: Record<string, Exampled> };
  responses: Record<string, unknown>;
  security?: Record<string, unknown>[];
}
interface SecurityScheme {
  type: string;
  in?: string;
  name?: string;
  scheme?: string;
}
interface Document {
  paths: Record<string, Record<string, Operation> & { parameters?: Parameter[] }>;
  components: { securitySchemes: Record<string, SecurityScheme> };
  security?: Record<string, unknown>[];
}

/** An operation as its document shows it used. */
export interface DocumentedRequest {
  operationId: string;
  target: string;
  question: Question;
  /** The first that the document has for it, which is its success. */
  success: number;
}

/** A request of every operation, made of nothing but the examples of the document. */
export function documentedRequests(root: object): DocumentedRequest[] {
  const document = root as Document;
  return Object.entries(document.paths).flatMap(([path, { parameters = [], ...item }]) =>
    Object.entries(item).map(([method, operation]) =>
      requestOf(document, operation, { path, method: method.toUpperCase(), parameters }),
    ),
  );
}

function requestOf(
  document: Document,
  operation: Operation,
  { path, method, parameters }: { path: string; method: string; parameters: Parameter[] },
): DocumentedRequest {
  const all = [...parameters, ...(operation.parameters ?? [])].map((each) => resolved(document, each));
  const query = new URLSearchParams();
  let filled = path;
  for (const parameter of all) {
    if (parameter.in === 'path') {
      filled = filled.replace(`{${parameter.name}}`, String(exampleOf(document, parameter)));
    } else if (parameter.in === 'query' && parameter.required) {
      query.set(parameter.name, String(exampleOf(document, parameter)));
    }
  }
  const body = bodyOf(document, operation);
  return {
    operationId: operation.operationId,
    target: query.size > 0 ? `${filled}?${query}` : filled,
    question: { method, ...body, headers: { ...body.headers, ...credentialsOf(document, operation) } },
    success: Math.min(...Object.keys(operation.responses).map(Number)),
  };
}

function bodyOf(document: Document, { requestBody }: Operation): Question {
  if (!requestBody) {
    return {};
  }
  const [type, media] = Object.entries(resolved(document, requestBody).content)[0] as [string, Exampled];
  const example = exampleOf(document, media) as Record<string, string>;
  const body = type.endsWith('json') ? JSON.stringify(example) : String(new URLSearchParams(example));
  return { headers: { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }, body };
}

/** Mocks look at the form of credentials only. */
function credentialsOf(document: Document, operation: Operation): Record<string, string> {
  const ways = operation.security ?? document.security ?? [];
  // Where none is a way too, the body has what the header would have.
  const [first = {}] = ways.some((way) => Object.keys(way).length === 0) ? [] : ways;
  const schemes = Object.keys(first).map((name) => document.components.securitySchemes[name]);
  return Object.fromEntries(
    schemes.map((scheme) => {
      if (scheme?.type === 'apiKey') {
        return [scheme.name ?? '', 'any'];
      }
      return ['authorization', scheme?.scheme === 'basic' ? 'Basic YW55OmFueQ==' : 'Bearer any'];
    }),
  );
}

function exampleOf(document: Document, { example, examples, schema }: Exampled): unknown {
  if (example !== undefined) {
    return example;
  }
  const named = Object.values(examples ?? {})[0];
  return named ? resolved(document, named).value : schema && resolved(document, schema).examples?.[0];
}

function resolved<T extends Reference>(document: Document, value: T): T {
  return value.$ref === undefined
    ? value
    : (value.$ref
        .slice(2)
        .split('/')
        .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], document) as T);
}
