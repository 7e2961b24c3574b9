import { contractDocument } from '../../support/contract/contract-document.js';
import type { Exchange } from '../../support/http-exchange.js';
import { type Api, nameOf, type StatusPair } from './status-case.js';

type Json = Record<string, unknown>;

/** An error as a document shows it, for programs. */
export interface ErrorExample extends StatusPair {
  example: string;
  body: Json;
}

export const exampleNameOf = (one: ErrorExample) => `${nameOf(one)} ${one.example}`;

export function errorExamples(api: Api): ErrorExample[] {
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
      Object.entries((resolved(response).content ?? {}) as Json)
        .filter(([type]) => Number(status) >= 400 && type.endsWith('json'))
        .flatMap(([, media]) => Object.entries((media as { examples: Json }).examples))
        .map(([example, entry]) => {
          const body = resolved(entry).value as Json;
          return { api, operationId, status: Number(status), example, body };
        }),
    ),
  );
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
