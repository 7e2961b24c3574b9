import type { IncomingHttpHeaders } from 'node:http';

/** A request as the contracts see it. */
export interface HttpRequest {
  method: string;
  /** Still percent-encoded, without the query. */
  path: string;
  query: URLSearchParams;
  /** The query as it came, for those who must tell what is broken in it. */
  rawQuery: string;
  headers: IncomingHttpHeaders;
  requestId: string;
  /** The network address of the client, as far as proxies are trusted to name it. */
  clientAddress: string;
  /** The whole body, read on the first call. Rejects with a BodyRefusal for one that is too large or too slow. */
  readBody(): Promise<Buffer>;
}

/** Text in pieces. `return` frees what it comes from, and is called whether it was read or not. */
export type TextStream = AsyncIterableIterator<string> & { return(): Promise<unknown> };

export interface HttpAnswer {
  status: number;
  /** Several values are several headers. */
  headers: Record<string, string | number | string[]>;
  /** Text in pieces is written as fast as the other side reads it. */
  body?: string | Buffer | TextStream;
}

/** An answer with what the log and the metrics call it. */
export interface DispatchedAnswer extends HttpAnswer {
  /** Operation id of the contract, or `none` where no operation was meant. */
  operation: string;
  /** More for the log line: who asked, why it was refused. Never a secret. */
  facts?: Record<string, string | number | undefined>;
}

export type Dispatch = (request: HttpRequest) => Promise<DispatchedAnswer>;
