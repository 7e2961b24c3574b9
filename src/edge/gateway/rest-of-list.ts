import type {
  DirectoryServiceService,
  ReadRequest,
  ReadRestResponse,
  RestOfList,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { AtOnce } from '../../fairness/at-once.js';
import type { RpcClient } from '../../rpc/client.js';
import type { AnyRequest } from '../contract/typed-handler.js';
import { type BodyStream, bodyStream } from '../http/exchange.js';

type Directory = Pick<RpcClient<typeof DirectoryServiceService>, 'readRest'>;

/** A long list lasts as long as its reader takes, up to this limit. */
const LIST_DEADLINE_MS = 600_000;
/** Time for the domain to make a page: with many lists it makes pages in turn, with pauses. */
export const LIST_WAIT_MS = 15_000;
/**
 * A page ends with the message that reaches this. It is in memory as a whole, because its `Link` precedes it,
 * and a key may read 64 at once. 1,000 records of ordinary size fit.
 */
const MOST_PAGE_BYTES = 2 * 1_024 * 1_024;
/** A page also ends after this time: when the domain serves many lists, it makes messages with pauses. */
export const MOST_PAGE_MS = 10_000;

/** A domain that takes longer is slow, and not gone: to ask again would be more work for it. */
const GONE_WITHIN_MS = 5_000;

/** The token of a call may have been replaced since it began; the next one has the new token. */
const GONE: ReadonlySet<ErrorCode> = new Set([ErrorCode.UNAVAILABLE, ErrorCode.SERVICE_TOKEN_INVALID]);

/**
 * The pages of the rest of a list. If the domain that reads them is gone, they are asked for again, once,
 * after the last page that arrived; the channel chooses another domain where there is one.
 */
export class PagesOfRest implements AsyncIterator<ReadRestResponse> {
  readonly #endsAt = performance.now() + LIST_DEADLINE_MS;
  #pages: AsyncIterator<ReadRestResponse>;
  #isAskedAgain = false;
  #isLeft = false;

  constructor(
    private readonly directory: Directory,
    private readonly read: ReadRequest,
    /** Undefined in and after the last page. */
    private rest: RestOfList | undefined,
    private readonly call: Parameters<Directory['readRest']>[1],
  ) {
    this.#pages = this.#open();
  }

  async next(): Promise<IteratorResult<ReadRestResponse>> {
    const askedAt = performance.now();
    try {
      const page = await this.#pages.next();
      if (!page.done) {
        this.#isAskedAgain = false;
        this.rest = page.value.rest;
      }
      return page;
    } catch (error) {
      if (!this.#canGoOn(error, askedAt)) {
        throw error;
      }
      this.#isAskedAgain = true;
      this.#pages = this.#open();
      return this.next();
    }
  }

  /** Ends a pending read at once. */
  async return(): Promise<IteratorResult<ReadRestResponse>> {
    this.#isLeft = true;
    await this.#pages.return?.();
    return { done: true, value: undefined };
  }

  #canGoOn(error: unknown, askedAt: number): boolean {
    const isGone = error instanceof ServiceError && GONE.has(error.code);
    const mayAsk = this.rest !== undefined && !this.#isAskedAgain && !this.#isLeft;
    return isGone && mayAsk && performance.now() - askedAt < GONE_WITHIN_MS;
  }

  #open(): AsyncIterator<ReadRestResponse> {
    const { directory, read, rest, call } = this;
    const limits = { deadlineMs: Math.max(1, this.#endsAt - performance.now()), messageWaitMs: LIST_WAIT_MS };
    return directory.readRest({ read, rest }, { ...call, ...limits })[Symbol.asyncIterator]();
  }
}

/**
 * Adds the further messages of a page, as many as it may have, and returns the last of them. A page also ends
 * where the edge has little room for more: beyond it, connections are cut.
 */
export async function gather(
  bodies: Buffer[],
  rest: AsyncIterator<ReadRestResponse>,
  request: AnyRequest,
  endsAt: number,
): Promise<ReadRestResponse | undefined> {
  let last: ReadRestResponse | undefined;
  let bytes = 0;
  let hasRoom = true;
  const isFull = () => !hasRoom || bytes >= MOST_PAGE_BYTES || performance.now() >= endsAt;
  // Where the list goes on; the last message has none.
  while (!last?.rest || !isFull()) {
    const next = await awaited(rest, request);
    if (next.done) {
      break;
    }
    last = next.value;
    bytes += last.body.length;
    bodies.push(last.body);
    hasRoom = request.holds(bytes, String(request.facts.integrationId));
  }
  return last;
}

/** The next message of the domain. The connection may be silent until it is there. */
export async function awaited(
  messages: AsyncIterator<ReadRestResponse>,
  request: AnyRequest,
): Promise<IteratorResult<ReadRestResponse>> {
  request.wait(LIST_WAIT_MS);
  const message = await messages.next();
  request.wait(0);
  return message;
}

/** The pages read so far, then those to come. */
export function streamed(
  read: Pick<ReadRestResponse, 'body'>[],
  rest: AsyncIterator<ReadRestResponse>,
  { pageTurns }: { pageTurns: AtOnce },
  leave: () => Promise<unknown>,
): BodyStream {
  const next = async () => {
    const page = read.shift();
    const { done, value } = page === undefined ? await rest.next() : { done: false, value: page };
    if (done) {
      return { done, value };
    }
    // Only waits for a turn of the event loop that has room for a page, in the order in which pages came.
    const endsTurn = () => true;
    await pageTurns.run('', async () => undefined, endsTurn);
    return { done: false, value: value.body };
  };
  return bodyStream(next, leave);
}

/** The items of a JSON array, without its brackets. */
function itemsOf(array: Buffer): Buffer {
  return array.subarray(1, -1);
}

const OPENING = Buffer.from('[');
const SEPARATOR = Buffer.from(',');
const CLOSING = Buffer.from(']');

/** One array of the items of several. */
export function joinedArrays(arrays: readonly Buffer[]): Buffer {
  const parts = arrays
    .map(itemsOf)
    .filter(({ length }) => length > 0)
    .flatMap((items) => [SEPARATOR, items]);
  return Buffer.concat([OPENING, ...parts.slice(1), CLOSING]);
}

/** A JSON array, streamed from pages that are arrays: a piece for each page that has items. */
export function streamedArray(pages: BodyStream): BodyStream {
  let written: 'nothing' | 'items' | 'all' = 'nothing';
  const next = async (): Promise<IteratorResult<Buffer>> => {
    while (written !== 'all') {
      const page = await pages.next();
      const isFirst = written === 'nothing';
      if (page.done) {
        written = 'all';
        return { done: false, value: isFirst ? Buffer.concat([OPENING, CLOSING]) : CLOSING };
      }
      const items = itemsOf(page.value);
      if (items.length > 0) {
        written = 'items';
        return { done: false, value: Buffer.concat([isFirst ? OPENING : SEPARATOR, items]) };
      }
    }
    return { done: true, value: undefined };
  };
  return bodyStream(next, () => {
    written = 'all';
    return pages.return();
  });
}
