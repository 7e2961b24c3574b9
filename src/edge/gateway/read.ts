import type { ReadContext, ReadHeader } from '../../../generated/proto/integration/directory/v1/directory.js';
import { internalError } from '../../errors/service-error.js';
import { StreamedArray } from '../contract/streamed-array.js';
import { rateLimitHeaders } from '../problem.js';
import type { Identity } from './api-key.js';
import type { GatewayDependencies } from './dependencies.js';
import type { ListUnderWay } from './lists-under-way.js';

/** A long list lasts as long as its reader takes, up to this limit. */
const LIST_DEADLINE_MS = 600_000;
/** Time for the domain to make a page: with many lists it makes pages in turn, with pauses. */
const LIST_WAIT_MS = 15_000;

/** What every read has. */
interface ReadRequest {
  requestId: string;
  identity: Identity;
  clientAddress: string;
  params: object;
  query: object;
  header(name: string): string | undefined;
  note(facts: Record<string, string>): void;
}

/** The shared part of every read: the entity tags of the request, the version headers of the answer. */
export function beginRead(
  request: ReadRequest,
  { entityTags, lists, pageTurns }: GatewayDependencies,
  operationId: string,
) {
  const salt = entityTags.saltOf(operationId, JSON.stringify([request.params, request.query]));
  const context: ReadContext = {
    apiKeyHash: request.identity.apiKeyHash,
    remoteAddress: request.clientAddress,
    ...entityTags.knownVersions(salt, request.header('if-none-match')),
  };
  return {
    context,
    call: { requestId: request.requestId },
    listCall: { requestId: request.requestId, deadlineMs: LIST_DEADLINE_MS, messageWaitMs: LIST_WAIT_MS },
    /** Before the call of a list. */
    beginList: () => lists.begin(context.apiKeyHash),
    /** Awaited before the rows of each page of a list. */
    pageTurn: () => pageTurns.take(),
    /** The headers of a 200 or a 304. */
    headersOf(header: ReadHeader | undefined, list?: ListUnderWay) {
      if (!header?.rateLimit) {
        throw internalError(new Error(`the answer to ${operationId} has no header`));
      }
      list?.answered(header.rateLimit);
      request.note({ integrationId: header.integrationId, apiKeyId: header.apiKeyId });
      return {
        ETag: entityTags.tagOf(salt, header.version),
        'Cache-Control': 'private, no-cache',
        Vary: 'x-api-key',
        ...rateLimitHeaders(header.rateLimit),
      };
    },
  };
}

export type Read = ReturnType<typeof beginRead>;

/** The answer with one resource, or 304. */
export function one<T>(read: Read, header: ReadHeader | undefined, body: () => T) {
  const headers = read.headersOf(header);
  return header?.notModified
    ? ({ status: 304, headers } as const)
    : ({ status: 200, headers, body: body() } as const);
}

interface ListMessage {
  header?: ReadHeader;
  nextCursor?: string;
}

/** The answer with a list, streamed as its pages arrive; the first brings the header. */
export async function whole<M extends ListMessage, T>(
  read: Read,
  messages: AsyncIterable<M>,
  rowsOf: (message: M) => T[],
) {
  const list = await read.beginList();
  const pages = messages[Symbol.asyncIterator]();
  const leave = async () => {
    list.end();
    await pages.return?.();
  };
  try {
    const first = await pages.next();
    const message: M | undefined = first.done ? undefined : first.value;
    const headers = read.headersOf(message?.header, list);
    // Reads to the end: cancelling resets the call, and HTTP/2 ends connections with many resets.
    const second = await pages.next();
    if (!message || message.header?.notModified) {
      list.end();
      return { status: 304, headers } as const;
    }
    if (second.done) {
      list.end();
      await read.pageTurn();
      return { status: 200, headers, body: rowsOf(message) } as const;
    }
    const rows = continued(
      read,
      [message, second.value],
      { next: () => pages.next(), return: leave },
      rowsOf,
    );
    return { status: 200, headers, body: new StreamedArray(rows) } as const;
  } catch (error) {
    await leave();
    throw error;
  }
}

/** The rows of the messages read so far, then of those to come. */
function continued<M, T>(
  { pageTurn }: Read,
  read: M[],
  pages: { next(): Promise<IteratorResult<M>>; return(): Promise<void> },
  rowsOf: (message: M) => T[],
): AsyncIterator<T[]> {
  return {
    next: async () => {
      const message = read.shift();
      const next = message === undefined ? await pages.next() : { done: false as const, value: message };
      if (next.done) {
        return next;
      }
      await pageTurn();
      return { done: false, value: rowsOf(next.value) };
    },
    return: async () => {
      await pages.return();
      return { done: true, value: undefined };
    },
  };
}

/** The answer with one page of a list, buffered: its last message says where the next page begins. */
export async function page<M extends ListMessage, T>(
  read: Read,
  messages: AsyncIterable<M>,
  rowsOf: (message: M) => T[],
  addressOfNext: (cursor: string) => string,
) {
  const rows: T[] = [];
  let header: ReadHeader | undefined;
  let nextCursor: string | undefined;
  let headers: ReturnType<Read['headersOf']>;
  const list = await read.beginList();
  try {
    for await (const message of messages) {
      header ??= message.header;
      nextCursor = message.nextCursor;
      await read.pageTurn();
      rows.push(...rowsOf(message));
    }
    headers = read.headersOf(header, list);
  } finally {
    list.end();
  }
  if (header?.notModified) {
    return { status: 304, headers } as const;
  }
  const link = nextCursor === undefined ? {} : { Link: `<${addressOfNext(nextCursor)}>; rel="next"` };
  return { status: 200, headers: { ...headers, ...link }, body: rows } as const;
}
