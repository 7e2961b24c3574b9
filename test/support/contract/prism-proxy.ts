import { type Exchange, exchange, type Question } from '../http-exchange.js';
import { contractDocument } from './contract-document.js';
import { newPrismServer, operationsOf } from './prism.js';

export interface PrismProxy {
  /** Asks the upstream through Prism; `violations` is all that it holds against question and answer. */
  ask(target: string, question?: Question): Promise<{ answer: Exchange; violations: unknown[] }>;
  close(): Promise<void>;
}

/** Prism between a client and a gateway, with nothing but the published document to judge by. */
export async function startPrism(upstreamUrl: string): Promise<PrismProxy> {
  const server = newPrismServer(await operationsOf(contractDocument('gateway')), {
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
    log: { write: () => undefined },
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
