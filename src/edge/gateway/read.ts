import type { operations as Operations } from '../../../generated/openapi/gateway.js';
import { type OperationId, operations } from '../../../generated/openapi/gateway-operations.js';
import type {
  DirectoryServiceService,
  ReadHeader,
  ReadRequest,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import { present } from '../../errors/service-error.js';
import type { AtOnce } from '../../fairness/at-once.js';
import type { RpcClient } from '../../rpc/client.js';
import { type AnyRequest, type Handler, MadeJson } from '../contract/typed-handler.js';
import type { EntityTags } from '../http/representations.js';
import { rateLimitHeaders } from '../problem.js';
import type { Identity } from './api-key.js';
import type { ChangeNews } from './change-news.js';
import type { RequestsUnderWay } from './requests-under-way.js';
import {
  awaited,
  gather,
  joinedArrays,
  LIST_WAIT_MS,
  MOST_PAGE_MS,
  PagesOfRest,
  streamed,
  streamedArray,
} from './rest-of-list.js';

export type GatewayHandler<Id extends keyof Operations> = Handler<
  Operations[Id],
  GatewayDependencies,
  Identity
>;

/** A list waits for a place of its key, and then for the domain. */
export const MOST_FIRST_WAIT_MS = 2 * LIST_WAIT_MS;

export interface GatewayDependencies {
  directory: RpcClient<typeof DirectoryServiceService>;
  entityTags: EntityTags;
  lists: RequestsUnderWay;
  /** Of requests that wait for a change. */
  waits: RequestsUnderWay;
  news: ChangeNews;
  /** Limits the reads of those that a change has woken. */
  wokenReads: AtOnce;
  /** Spreads the pages of lists over turns, so that short answers come in between. */
  pageTurns: AtOnce;
  /** The public address of the gateway, for links. */
  gatewayUrl: string;
}

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
    const pieces = new PagesOfRest(directory, question, rest, longCall);
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
    const underWay = await lists.begin(request.identity.apiKeyHash, () => request.wait(MOST_FIRST_WAIT_MS));
    let rest: PagesOfRest | undefined;
    const leave = async () => {
      underWay.end();
      await rest?.return();
    };
    try {
      const first = await directory.read(question, longCall);
      const header = present(first.header);
      const headers = headersOf(header);
      underWay.answered(header);
      rest = first.rest && new PagesOfRest(directory, question, first.rest, longCall);
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
