import type { IncomingHttpHeaders } from 'node:http';

/** A request, as contracts see it. */
export interface HttpRequest {
  method: string;
  /** Still percent-encoded, without the query. */
  path: string;
  query: URLSearchParams;
  /** The query as received, for parsers that report malformed parts. */
  rawQuery: string;
  headers: IncomingHttpHeaders;
  requestId: string;
  /** The network address of the client, by way of trusted proxies. */
  clientAddress: string;
  /** The network of that address, by which places and turns are shared. */
  network: string;
  /** The whole body, read on the first call. Rejects with BodyRefusal if it is too large or too slow. */
  readBody(): Promise<Buffer>;
  /** Aborted when the client closes its connection. */
  left: AbortSignal;
  /** From now on, the answer may take so much longer than usual: the connection may be silent meanwhile. */
  wait(ms: number): void;
}

/** The code in the log of a request that is refused because too many others are under way. */
export const BUSY = 'busy';

/** A body in pieces. The consumer always calls `return`, which releases the source. */
export type BodyStream = AsyncIterableIterator<Buffer> & { return(): Promise<IteratorResult<Buffer>> };

/** Not a generator: `return` on an unstarted one would not release the source. */
export function bodyStream(
  next: () => Promise<IteratorResult<Buffer>>,
  release: () => Promise<unknown>,
): BodyStream {
  return {
    next,
    return: async () => {
      await release();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

export interface HttpAnswer {
  status: number;
  /** Several values are several headers. */
  headers: Record<string, string | number | string[]>;
  /** A stream is written at the speed of the reader. */
  body?: string | Buffer | BodyStream;
}

export function isStream(body: HttpAnswer['body']): body is BodyStream {
  return typeof body === 'object' && !Buffer.isBuffer(body);
}

/** An answer with its names for log and metrics. */
export interface DispatchedAnswer extends HttpAnswer {
  /** Operation id of the contract, or `none`. */
  operation: string;
  /** More fields for the log line, such as the caller and the reason for a refusal. Never a secret. */
  facts?: Record<string, string | number | undefined>;
  /** Of the log line, if it does not follow from the status. */
  level?: 'warn' | undefined;
}

export type Dispatch = (request: HttpRequest) => Promise<DispatchedAnswer>;
