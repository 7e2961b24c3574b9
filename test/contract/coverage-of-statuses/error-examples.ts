import { contractDocument } from '../../support/contract/contract-document.js';
import type { Exchange } from '../../support/http-exchange.js';
import { type Api, nameOf, type StatusPair } from './status-case.js';

type Json = Record<string, unknown>;

/** An error as a document shows it, for programs. */
export interface ErrorExample extends StatusPair {
  example: string;
  body: Json;
}

export const exampleNameOf = (one: StatusPair & { example: string }) => `${nameOf(one)} ${one.example}`;

/** An answer as a document shows it: an object for programs, or a page. */
export interface AnswerExample extends StatusPair {
  example: string;
  mediaType: string;
  value: unknown;
}

export function answerExamples(api: Api): AnswerExample[] {
  const document = contractDocument(api) as unknown as Json;
  const resolved = (node: unknown): Json => {
    const { $ref } = node as { $ref?: string };
    const found = $ref
      ?.slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Json)[key], document);
    return (found ?? node) as Json;
  };
  const operations = Object.values(document.paths as Json).flatMap((item) => Object.values(item as Json)) as {
    operationId?: string;
    responses?: Json;
  }[];
  return operations.flatMap(({ operationId = '', responses = {} }) =>
    Object.entries(responses).flatMap(([status, response]) =>
      Object.entries((resolved(response).content ?? {}) as Json).flatMap(([mediaType, media]) =>
        Object.entries((media as { examples: Json }).examples).map(([example, entry]) => {
          const { value } = resolved(entry);
          return { api, operationId, status: Number(status), example, mediaType, value };
        }),
      ),
    ),
  );
}

export function errorExamples(api: Api): ErrorExample[] {
  return answerExamples(api)
    .filter(({ status, mediaType }) => status >= 400 && mediaType.endsWith('json'))
    .map(({ mediaType: _, value, ...example }) => ({ ...example, body: value as Json }));
}

/** Whether an answer is the example, but for the request id, seconds to wait and names of environments. */
export function isExample(
  { operationId, status, body }: ErrorExample,
  id: string,
  answer: Exchange,
): boolean {
  return (
    operationId === id &&
    status === answer.status &&
    comparable(JSON.stringify(body)) === comparable(answer.body)
  );
}

function comparable(text: string): string {
  const { requestId: _, ...body } = JSON.parse(text) as Json;
  return JSON.stringify(Object.entries(body).sort())
    .replace(/\d+ s\./, 'n s.')
    .replace(/(live|demo) environment/g, 'an environment');
}
