import { ApiError, type ApiErrorCode, type FieldError } from './errors.js';
import {
  type ExchangeOptions,
  exchange,
  type Incoming,
  isObject,
  jsonOf,
  type Outgoing,
  retryAfterSecondsOf,
} from './exchange.js';
import { type HTTPHeaders, querystring, type RequestOpts } from './generated/gateway/runtime.js';
import { nextAddressOf, type Page, Paged } from './paged.js';
import { type RetryPolicy, timeLimit, withRetries } from './retries.js';

export interface ReadOptions {
  /** For each attempt, instead of the gateway's setting. */
  timeoutMs?: number | undefined;
  /** Ends the call, including its pauses. */
  signal?: AbortSignal | undefined;
  /** A request id of your own, which the service logs. */
  requestId?: string | undefined;
  ifChanged?: never;
}

export interface PagedOptions extends ReadOptions {
  /** How many to read at once, 1 to 1000. Default: 200. */
  pageSize?: number | undefined;
}

export interface ConditionalReadOptions extends Omit<ReadOptions, 'ifChanged'> {
  /** The `etag` you have, or `null` if you have none yet. */
  ifChanged: string | null | undefined;
}

/** The result of a conditional read. Keep `etag` with the data for the next one. */
export type Reading<T> =
  | { readonly changed: false; readonly etag: string | null }
  | { readonly changed: true; readonly etag: string | null; readonly data: T };

export type AnyReadOptions = ReadOptions | ConditionalReadOptions;

/** What any read may ask for, and those with pages. */
interface Asked {
  ifNoneMatch?: string;
  xRequestId?: string;
  limit?: number;
}

/** Makes the request: path, query and headers. */
type Prepare = (asked: Asked) => Promise<RequestOpts>;

/** The generated ones make a record of any JSON. */
export type Parse<T> = (json: unknown) => T;

export interface ReaderSettings extends Omit<ExchangeOptions, 'signal'> {
  baseUrl: string;
  retry: RetryPolicy;
}

const DEFAULT_PAGE_SIZE = 200;

/** Reads of the gateway, with retries and errors. */
export class Reader {
  readonly #settings: ReaderSettings;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
  }

  /** Returns `Reading<T>` with `ifChanged`, else `T`; the overloads of the callers have these types. */
  async read<T>(prepare: Prepare, parse: Parse<T>, options: AnyReadOptions): Promise<T | Reading<T>> {
    const isConditional = 'ifChanged' in options;
    const held = options.ifChanged ?? null;
    const request = await prepare({ ...idOf(options), ...(held !== null && { ifNoneMatch: held }) });
    const incoming = await this.#send(this.#outgoing(request), options);
    const etag = incoming.headers.get('etag');
    if (incoming.status === 304) {
      return { changed: false, etag: etag ?? held };
    }
    const data = parsed(incoming, parse);
    return isConditional ? { changed: true, etag, data } : data;
  }

  readList<T>(prepare: Prepare, parse: Parse<T>, options: AnyReadOptions): Promise<T[] | Reading<T[]>> {
    return this.read(prepare, listOf(parse), options);
  }

  pages<T>(prepare: Prepare, parse: Parse<T>, { pageSize, ...options }: PagedOptions): Paged<T> {
    const limit = pageSize ?? DEFAULT_PAGE_SIZE;
    return new Paged((address) =>
      this.readPage((asked) => prepare({ ...asked, limit }), parse, options, address),
    );
  }

  async readPage<T>(
    prepare: Prepare,
    parse: Parse<T>,
    options: ReadOptions,
    address: string | null,
  ): Promise<Page<T>> {
    const first = this.#outgoing(await prepare(idOf(options)));
    const outgoing = address === null ? first : { ...first, url: address };
    const incoming = await this.#send(outgoing, options);
    const next = nextAddressOf(incoming.headers, outgoing.url);
    if (next === outgoing.url) {
      throw unexpected(incoming, 'The next page is the page itself.');
    }
    return { items: parsed(incoming, listOf(parse)), etag: incoming.headers.get('etag'), next };
  }

  #outgoing({ path, query, headers }: RequestOpts): Outgoing {
    const search = querystring(query ?? {});
    const url = `${this.#settings.baseUrl}${path}${search === '' ? '' : `?${search}`}`;
    return { url, method: 'GET', headers: { ...(headers as HTTPHeaders), accept: 'application/json' } };
  }

  #send(outgoing: Outgoing, { timeoutMs, signal }: AnyReadOptions): Promise<Incoming> {
    const { fetch, retry } = this.#settings;
    const options = { fetch, signal, timeoutMs: timeLimit(timeoutMs ?? this.#settings.timeoutMs) };
    const isConditional = 'If-None-Match' in outgoing.headers;
    const attempt = async () => {
      const incoming = await exchange(outgoing, options);
      if (incoming.status === 200 || (incoming.status === 304 && isConditional)) {
        return incoming;
      }
      throw errorOf(incoming);
    };
    return withRetries(attempt, retry, signal);
  }
}

function idOf({ requestId }: AnyReadOptions): Asked {
  return requestId === undefined ? {} : { xRequestId: requestId };
}

function listOf<T>(parse: Parse<T>): Parse<T[]> {
  return (json) => {
    if (!Array.isArray(json)) {
      throw new TypeError('The answer is not a list.');
    }
    return json.map((item) => ofItsKind(item, parse));
  };
}

/** Throws for null, and where the parser makes a record or a text of something else. */
function ofItsKind<T>(json: unknown, parse: Parse<T>): T {
  const value: unknown = parse(json);
  if (value === null || typeof value !== typeof json || Array.isArray(value) !== Array.isArray(json)) {
    throw new TypeError('The answer has another type.');
  }
  return value as T;
}

function parsed<T>(incoming: Incoming, parse: Parse<T>): T {
  const json = jsonOf(incoming);
  if (json === undefined || json === null) {
    throw unexpected(
      incoming,
      'The answer is not JSON; it may come from something between you and the gateway.',
    );
  }
  try {
    return ofItsKind(json, parse);
  } catch (cause) {
    throw unexpected(incoming, 'The answer is not what the contract describes.', cause);
  }
}

/** A problem of the gateway, or an answer from a proxy. */
function errorOf(incoming: Incoming): ApiError {
  const { status, headers } = incoming;
  const problem = jsonOf(incoming);
  if (!isObject(problem) || typeof problem.code !== 'string') {
    return unexpected(incoming, `The answer is ${status}, and not one of the gateway's own.`);
  }
  const { code, message, title, requestId, errors } = problem;
  return new ApiError(String(message ?? title ?? code), {
    status,
    code: code as ApiErrorCode,
    requestId: typeof requestId === 'string' ? requestId : headers.get('x-request-id'),
    fields: fieldsOf(errors),
    retryAfterSeconds: retryAfterSecondsOf(headers),
  });
}

function fieldsOf(errors: unknown): FieldError[] {
  return Array.isArray(errors)
    ? errors.filter(isObject).map((error) => ({
        in: String(error.in ?? ''),
        path: String(error.path ?? ''),
        message: String(error.message ?? ''),
      }))
    : [];
}

function unexpected({ status, headers }: Incoming, message: string, cause?: unknown): ApiError {
  const details = {
    status,
    code: 'unexpected_response',
    requestId: headers.get('x-request-id'),
    retryAfterSeconds: retryAfterSecondsOf(headers),
  };
  return new ApiError(message, details, cause === undefined ? undefined : { cause });
}
