import { createRequire } from 'node:module';
import { join } from 'node:path';
import pino from 'pino';
import { packageRoot } from '../../src/config/package.js';
import { type Exchange, exchange, type Question } from './http-exchange.js';

// Prism comes as CommonJS whose types want more than it exports; what is used of it is this.
interface Prism {
  listen(port: number, address: string): Promise<string>;
  close(): Promise<void>;
}
const require = createRequire(import.meta.url);
const { createServer } = require('@stoplight/prism-http-server') as {
  createServer(operations: unknown[], options: object): Prism;
};
const { getHttpOperationsFromSpec } = require('@stoplight/prism-cli/dist/operations.js') as {
  getHttpOperationsFromSpec(file: string): Promise<unknown[]>;
};

export interface PrismProxy {
  /** Asks the upstream through Prism; `violations` is all that it holds against question and answer. */
  ask(target: string, question?: Question): Promise<{ answer: Exchange; violations: unknown[] }>;
  close(): Promise<void>;
}

/** Prism between a client and a gateway, with nothing but the published document to judge by. */
export async function startPrism(upstreamUrl: string): Promise<PrismProxy> {
  const operations = await getHttpOperationsFromSpec(join(packageRoot, 'generated/openapi/gateway.json'));
  const server = createServer(operations, {
    cors: false,
    config: {
      isProxy: true,
      upstream: new URL(upstreamUrl),
      // What is wrong with a question is for the service to say; Prism would answer in its place.
      validateRequest: false,
      validateResponse: true,
      checkSecurity: false,
      errors: false,
      mock: { dynamic: false },
    },
    components: { logger: pino.pino({ level: 'silent' }) },
  });
  const url = new URL(await server.listen(0, '127.0.0.1'));
  return {
    ask: async (target, question) => {
      const answer = await exchange(Number(url.port), target, question);
      const told = answer.headers['sl-violations'];
      return { answer, violations: told === undefined ? [] : (JSON.parse(String(told)) as unknown[]) };
    },
    close: () => server.close(),
  };
}
