import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Exchange } from '../http-exchange.js';
import { contractDocument } from './contract-document.js';

interface Schemaed {
  $ref?: string;
  required?: boolean;
  schema?: object;
}

interface DocumentedResponse {
  $ref?: string;
  headers?: Record<string, Schemaed>;
  content?: Record<string, Schemaed>;
}

interface DocumentedOperation {
  operationId: string;
  responses: Record<string, DocumentedResponse>;
}

const ANYTHING = {};

/** One document of the contract, as a judge of answers that shares no code with the server. */
export class AnswerJudge {
  readonly document: { paths: Record<string, Record<string, DocumentedOperation>>; [part: string]: unknown };
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: false });
  /** By schema as it is in the document: to compile one takes longer than most answers. */
  readonly #validators = new Map<object, ValidateFunction>();

  constructor(private readonly name: 'gateway' | 'sign-on') {
    this.document = contractDocument(name) as unknown as AnswerJudge['document'];
    formats.default(this.#ajv);
    const document = this.name === 'gateway' ? closed(this.document) : this.document;
    this.#ajv.addSchema({ ...(document as object), $id: 'contract:' }, undefined, false, false);
  }

  /** All that an answer does otherwise than the document says for this operation. */
  faultsOf(operationId: string, answer: Exchange): string[] {
    const documented = this.#operation(operationId).responses[answer.status];
    if (!documented) {
      return [`status ${answer.status} is not documented for ${operationId}`];
    }
    const response = this.#resolved(documented);
    return [...this.#headerFaults(response, answer), ...this.#bodyFaults(response, answer)];
  }

  statusesOf(operationId: string): number[] {
    return Object.keys(this.#operation(operationId).responses).map(Number);
  }

  operations(): { operationId: string; method: string; path: string }[] {
    return Object.entries(this.document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, operation]) => operation.operationId !== undefined)
        .map(([method, { operationId }]) => ({ operationId, method: method.toUpperCase(), path })),
    );
  }

  #headerFaults({ headers = {} }: DocumentedResponse, answer: Exchange): string[] {
    return Object.entries(headers).flatMap(([name, reference]) => {
      const { required, schema } = this.#resolved(reference);
      const received = answer.headers[name.toLowerCase()];
      const given = Array.isArray(received) ? received.join('\n') : received;
      if (given === undefined) {
        return required ? [`the header ${name} is missing`] : [];
      }
      const type = (schema as { type?: string } | undefined)?.type;
      const value = type === 'integer' && /^\d+$/.test(String(given)) ? Number(given) : given;
      return this.#schemaFaults(`header ${name}`, schema, value);
    });
  }

  #bodyFaults({ content }: DocumentedResponse, answer: Exchange): string[] {
    if (answer.method === 'HEAD' || !content) {
      return answer.body === '' ? [] : ['there is a body where none is documented'];
    }
    const mediaType = String(answer.headers['content-type']).split(';')[0] ?? '';
    const documented = content[mediaType];
    if (!documented) {
      return [`the content type ${mediaType} is not documented for ${answer.status}`];
    }
    const inChunks = answer.headers['transfer-encoding'] === 'chunked';
    if (!inChunks && Number(answer.headers['content-length']) !== Buffer.byteLength(answer.body)) {
      return ['content-length is not the length of the body'];
    }
    const body = mediaType.endsWith('json') ? parsed(answer.body) : answer.body;
    return body === undefined
      ? ['the body is not JSON']
      : this.#schemaFaults('body', documented.schema, body);
  }

  #schemaFaults(what: string, schema: object = ANYTHING, value: unknown): string[] {
    const validate =
      this.#validators.get(schema) ??
      this.#ajv.compile(absolute(this.name === 'gateway' ? closed(schema) : schema) as object);
    this.#validators.set(schema, validate);
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`);
  }

  #operation(operationId: string): DocumentedOperation {
    const found = Object.values(this.document.paths)
      .flatMap((item) => Object.values(item))
      .find((operation) => operation.operationId === operationId);
    if (!found) {
      throw new Error(`there is no operation ${operationId}`);
    }
    return found;
  }

  #resolved<T extends { $ref?: string }>(value: T): T {
    if (value.$ref === undefined) {
      return value;
    }
    const tokens = value.$ref.slice(2).split('/');
    return tokens.reduce<unknown>(
      (node, token) => (node as Record<string, unknown>)[token],
      this.document,
    ) as T;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The same, accepting no member that the schemas do not name. Clients must accept further ones, but the
 * gateway must send none: they could be internal.
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(closed);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closed(member)]));
  return 'properties' in value && 'type' in value ? { additionalProperties: false, ...members } : members;
}

/** The same schema with references that lead into the document from anywhere. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(absolute);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string' ? `contract:${member}` : absolute(member),
    ]),
  );
}
