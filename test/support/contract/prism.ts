import { createRequire } from 'node:module';
import type { Exchange } from '../http-exchange.js';

// Prism is CommonJS, and its types need more than it exports; this is the used part.
const require = createRequire(import.meta.url);

/** An operation of a document, as Prism has it. */
export interface PrismOperation {
  iid: string;
  method: string;
  path: string;
}

export interface PrismServer {
  listen(port: number, address: string): Promise<string>;
  close(): Promise<void>;
}

/** Where Prism logs to, one JSON text a line. */
export interface LogTarget {
  write(line: string): void;
}

interface Diagnostic {
  message: string;
  path?: string[];
}

const { createServer } = require('@stoplight/prism-http-server') as {
  createServer(operations: PrismOperation[], options: object): PrismServer;
};
const { createLogger } = require('@stoplight/prism-core') as {
  createLogger(name: string, options: object, target: LogTarget): unknown;
};
const { getHttpOperationsFromSpec } = require('@stoplight/prism-cli/dist/operations.js') as {
  getHttpOperationsFromSpec(document: object): Promise<PrismOperation[]>;
};
const { validateOutput } = require('@stoplight/prism-http/dist/validator') as {
  validateOutput(question: {
    resource: PrismOperation;
    element: object;
  }): { _tag: 'Right' } | { _tag: 'Left'; left: Diagnostic[] };
};

export function operationsOf(document: object): Promise<PrismOperation[]> {
  return getHttpOperationsFromSpec(document);
}

/** What its command line starts, in this process. */
export function newPrismServer(
  operations: PrismOperation[],
  { config, cors, log }: { config: object; cors: boolean; log: LogTarget },
): PrismServer {
  const logger = createLogger('prism', { level: 'info' }, log);
  return createServer(operations, { cors, config, components: { logger } });
}

/** What its proxy would hold against this answer of the operation, in its words. */
export function outputViolations(operation: PrismOperation, answer: Exchange): string[] {
  const isJson = /^application\/([\w.-]+\+)?json\b/.test(String(answer.headers['content-type']));
  const body = isJson ? (JSON.parse(answer.body) as unknown) : answer.body || undefined;
  // As one text each, which is how the proxy has them.
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
  const element = { statusCode: answer.status, headers, body };
  const judged = validateOutput({ resource: operation, element });
  return judged._tag === 'Right'
    ? []
    : judged.left.map(({ message, path = [] }) => [...path, message].join(' '));
}
