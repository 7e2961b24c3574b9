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
import {
  Configuration,
  type HTTPHeaders,
  querystring,
  type RequestOpts,
} from './generated/gateway/runtime.js';
import { nextAddressOf, type Page } from './paged.js';
import { type RetryPolicy, withRetries } from './retries.js';

export interface ReadOptions {
  /** For each attempt, in place of what the gateway was made with. */
  timeoutMs?: number | undefined;
  /** Ends the call, its pauses included. */
  signal?: AbortSignal | undefined;
  /** An id of your own for this request; it stands in the logs of the service. */
  requestId?: string | undefined;
  ifChanged?: never;
}

export interface ConditionalReadOptions extends Omit<ReadOptions, 'ifChanged'> {
  /** The `etag` you hold, or `null` when you hold nothing yet. */
  ifChanged: string | null | undefined;
}

/** What has become of the data you hold. Keep `etag` with the data, for the next time. */
export type Reading<T> =
  | { readonly changed: false; readonly etag: string | null }
  | { readonly changed: true; readonly etag: string | null; readonly data: T };

export type AnyReadOptions = ReadOptions | ConditionalReadOptions;

interface PreparedHeaders {
  ifNoneMatch?: string;
  xRequestId?: string;
}

/** Makes the request from the contract: path, query and headers. */
export type Prepare = (headers: PreparedHeaders) => Promise<RequestOpts>;

/** Throws where the JSON is not what the contract describes. */
export type Parse<T> = (json: unknown) => T;

export interface ReaderSettings extends Omit<ExchangeOptions, 'signal'> {
  baseUrl: string;
  retry: RetryPolicy;
}

/** Reads of the gateway: sends them again where that helps, and makes errors of what is not an answer. */
export class Reader {
  readonly #settings: ReaderSettings;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
  }

  /** For the generated clients, which prepare requests and send none. */
  static configuration(apiKey: string): Configuration {
    return new Configuration({ apiKey: () => apiKey });
  }

  /** With `ifChanged` the answer is a `Reading<T>`, without it `T`: the overloads of the caller say so. */
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

  async readPage<T>(
    prepare: Prepare,
    parse: Parse<T[]>,
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
    return { items: parsed(incoming, parse), etag: incoming.headers.get('etag'), next };
  }

  #outgoing({ path, query, headers }: RequestOpts): Outgoing {
    const search = querystring(query ?? {});
    const url = `${this.#settings.baseUrl}${path}${search === '' ? '' : `?${search}`}`;
    return { url, method: 'GET', headers: { ...(headers as HTTPHeaders), accept: 'application/json' } };
  }

  #send(outgoing: Outgoing, { timeoutMs, signal }: AnyReadOptions): Promise<Incoming> {
    const { fetch, retry } = this.#settings;
    const options = { fetch, signal, timeoutMs: timeoutMs ?? this.#settings.timeoutMs };
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

function idOf({ requestId }: AnyReadOptions): PreparedHeaders {
  return requestId === undefined ? {} : { xRequestId: requestId };
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
    return parse(json);
  } catch (cause) {
    throw unexpected(incoming, 'The answer is not what the contract describes.', cause);
  }
}

/** A problem of the gateway, or an answer from something before it. */
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
