import { type OperationId, operations } from '../../../generated/openapi/gateway-operations.js';
import type {
  ReadHeader,
  ReadRequest,
  ReadRestResponse,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import { joinedArrays, MadeJson, streamedArray } from '../contract/made-json.js';
import type { AnyRequest } from '../contract/typed-handler.js';
import { type BodyStream, bodyStream } from '../http/exchange.js';
import { present } from '../present.js';
import { rateLimitHeaders } from '../problem.js';
import type { Identity } from './api-key.js';
import type { GatewayDependencies } from './gateway-handler.js';
import { PagesOfRest } from './rest-of-list.js';

/** A long list lasts as long as its reader takes, up to this limit. */
const LIST_DEADLINE_MS = 600_000;
/** Time for the domain to make a page: with many lists it makes pages in turn, with pauses. */
const LIST_WAIT_MS = 15_000;
const REST_LIMITS = { deadlineMs: LIST_DEADLINE_MS, messageWaitMs: LIST_WAIT_MS };
/**
 * A page ends with the message that reaches this. It is in memory as a whole, because its `Link` precedes it,
 * and a key may read 64 at once. 1,000 records of ordinary size fit.
 */
const MOST_PAGE_BYTES = 2 * 1_024 * 1_024;
/** A page also ends after this time: when the domain serves many lists, it makes messages with pauses. */
const MOST_PAGE_MS = 10_000;

interface GatewayRequest extends AnyRequest {
  identity: Identity;
  params: object;
  query: { limit?: number; cursor?: string; clientId?: string };
}

/** The question for the domain, and the headers of its answer. */
export function beginRead(
  operationId: OperationId,
  request: GatewayRequest,
  { entityTags, gatewayUrl }: GatewayDependencies,
  query = request.query,
) {
  const { requestId, params } = request;
  const salt = entityTags.saltOf(operationId, JSON.stringify([params, query]));
  const context = {
    apiKeyHash: request.identity.apiKeyHash,
    remoteAddress: request.clientAddress,
    ...entityTags.knownVersions(salt, request.headers['if-none-match']),
  };
  const ids = { instanceIntegrationId: '', clientId: '', workerId: '', userId: '' };
  const question: ReadRequest = { context, operationId, ...ids, ...params, ...query };
  return {
    question,
    call: { requestId },
    /** Cancelled when the client leaves. Short calls end soon enough without a listener for that. */
    longCall: { requestId, signal: request.left, deadlineMs: LIST_WAIT_MS },
    /** The headers of a 200 or a 304. */
    headersOf({ version, rateLimit, integrationId, apiKeyId }: ReadHeader) {
      Object.assign(request.facts, { integrationId, apiKeyId });
      return {
        ETag: entityTags.tagOf(salt, version),
        'Cache-Control': 'private, no-cache',
        Vary: 'x-api-key, Accept-Encoding',
        ...rateLimitHeaders(present(rateLimit)),
      };
    },
    /** The header that leads to the next page, by the path template of the contract. */
    linkTo(nextQuery: object) {
      const values = params as Record<string, string>;
      const path = operations[operationId].path.replace(
        /\{(\w+)\}/g,
        (_, name: string) => values[name] ?? '',
      );
      const search = new URLSearchParams(nextQuery as Record<string, string>);
      return { Link: `<${gatewayUrl}${path}?${search}>; rel="next"` };
    },
  };
}

/** The handler of an operation with one body: one message if it fits into one, otherwise streamed. */
export function one(operationId: OperationId, { isLong = false } = {}) {
  return async (request: GatewayRequest, dependencies: GatewayDependencies) => {
    const { directory } = dependencies;
    const { question, call, longCall, headersOf } = beginRead(operationId, request, dependencies);
    const { header, body, rest } = await directory.read(question, isLong ? longCall : call);
    const headers = headersOf(present(header));
    if (header?.notModified) {
      return { status: 304, headers } as const;
    }
    if (!rest) {
      return { status: 200, headers, body: new MadeJson(body) } as const;
    }
    const pieces = new PagesOfRest(directory, question, rest, { ...longCall, ...REST_LIMITS });
    // Read before the status is sent, so that an error in the first piece is an answer like any other.
    const first = await awaited(pieces, request);
    const read = first.done ? [] : [first.value];
    const stream = streamed(read, pieces, dependencies, () => pieces.return());
    return { status: 200, headers, body: new MadeJson(stream) } as const;
  };
}

/** The handler of a list: one message if it fits into one, otherwise streamed as its pages arrive. */
export function list(operationId: OperationId) {
  return async (request: GatewayRequest, dependencies: GatewayDependencies) => {
    const { directory, lists } = dependencies;
    const { query } = request;
    const { question, longCall, headersOf, linkTo } = beginRead(operationId, request, dependencies);
    const pageEndsAt = performance.now() + MOST_PAGE_MS;
    const underWay = await lists.begin(request.identity.apiKeyHash);
    let rest: AsyncIterator<ReadRestResponse> | undefined;
    const leave = async () => {
      underWay.end();
      await rest?.return?.();
    };
    try {
      const first = await directory.read(question, longCall);
      const header = present(first.header);
      const headers = headersOf(header);
      underWay.answered(header);
      rest = first.rest && new PagesOfRest(directory, question, first.rest, { ...longCall, ...REST_LIMITS });
      if (rest && question.limit === undefined) {
        // Read before the status is sent, so that an error in the second page is an answer like any other.
        const second = await awaited(rest, request);
        const pages = streamed([first, ...(second.done ? [] : [second.value])], rest, dependencies, leave);
        return { status: 200, headers, body: new MadeJson(streamedArray(pages)) } as const;
      }
      const bodies = [first.body];
      const last = rest ? await gather(bodies, rest, request, pageEndsAt) : first;
      await leave();
      if (header.notModified) {
        return { status: 304, headers } as const;
      }
      const cursor = last?.nextCursor ?? last?.rest?.cursor;
      const link = cursor && linkTo({ ...query, cursor });
      const body = bodies.length > 1 ? joinedArrays(bodies) : first.body;
      return { status: 200, headers: { ...headers, ...link }, body: new MadeJson(body) } as const;
    } catch (error) {
      await leave();
      throw error;
    }
  };
}

/** Adds the further messages of a page, as many as it may have, and returns the last of them. */
async function gather(
  bodies: Buffer[],
  rest: AsyncIterator<ReadRestResponse>,
  request: GatewayRequest,
  endsAt: number,
): Promise<ReadRestResponse | undefined> {
  let last: ReadRestResponse | undefined;
  let bytes = 0;
  const isFull = () => bytes >= MOST_PAGE_BYTES || performance.now() >= endsAt;
  // Where the list goes on; the last message has none.
  while (!last?.rest || !isFull()) {
    const next = await awaited(rest, request);
    if (next.done) {
      break;
    }
    last = next.value;
    bytes += last.body.length;
    bodies.push(last.body);
  }
  return last;
}

/** The next message of the domain. The connection may be silent until it is there. */
async function awaited(
  messages: AsyncIterator<ReadRestResponse>,
  request: GatewayRequest,
): Promise<IteratorResult<ReadRestResponse>> {
  request.wait(LIST_WAIT_MS);
  const message = await messages.next();
  request.wait(0);
  return message;
}

/** The pages read so far, then those to come. */
function streamed(
  read: Pick<ReadRestResponse, 'body'>[],
  rest: AsyncIterator<ReadRestResponse>,
  { pageTurns }: GatewayDependencies,
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
