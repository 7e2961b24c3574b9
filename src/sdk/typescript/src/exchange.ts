import { ConnectionError, TimeoutError } from './errors.js';
import { timerMs } from './retries.js';
import { version } from './version.js';

export type Fetch = typeof globalThis.fetch;

export interface Outgoing {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

/** A whole answer, with any status. */
export interface Incoming {
  status: number;
  headers: Headers;
  text: string;
}

export interface ExchangeOptions {
  fetch: Fetch | undefined;
  /** For the whole exchange, including the body of the answer. */
  timeoutMs: number;
  /** None for lists, which are as long as what they list. */
  mostBytes?: number;
  signal?: AbortSignal | undefined;
}

/** Codes of Node's `fetch`, which ends each wait after five minutes, even with a longer `timeoutMs`. */
const TIMEOUTS_OF_NODE = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** One request and its whole answer. Follows no redirects, which could carry keys to another server. */
export async function exchange(outgoing: Outgoing, options: ExchangeOptions): Promise<Incoming> {
  const { timeoutMs, mostBytes = Number.POSITIVE_INFINITY, signal } = options;
  signal?.throwIfAborted();
  const { url, method, body } = outgoing;
  // Outside, so that an invalid header is not reported as a lost connection.
  const headers = new Headers({ ...userAgent(), ...outgoing.headers });
  const ended = new AbortController();
  const end = () => ended.abort();
  let isOverdue = false;
  const timer = setTimeout(() => {
    isOverdue = true;
    end();
  }, timerMs(timeoutMs));
  signal?.addEventListener('abort', end, { once: true });
  try {
    const send = options.fetch ?? globalThis.fetch;
    const init = { method, headers, redirect: 'manual', signal: ended.signal } as const;
    const response = await send(url, body === undefined ? init : { ...init, body });
    return { status: response.status, headers: response.headers, text: await wholeText(response, mostBytes) };
  } catch (cause) {
    signal?.throwIfAborted();
    const reason = reasonOf(cause);
    if (isOverdue || TIMEOUTS_OF_NODE.has(reason)) {
      const limit = isOverdue ? `${timeoutMs} ms` : `the limit of fetch: ${reason}`;
      throw new TimeoutError(`There was no whole answer from ${hostOf(url)} within ${limit}.`, { cause });
    }
    throw new ConnectionError(`The connection to ${hostOf(url)} failed: ${reason}.`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

async function wholeText(response: Response, mostBytes: number): Promise<string> {
  // A `fetch` of an application may have no streams.
  const reader = mostBytes === Number.POSITIVE_INFINITY ? undefined : response.body?.getReader?.();
  if (reader === undefined) {
    return response.text();
  }
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  // Not every browser can iterate over a stream.
  for (let { value } = await reader.read(); value !== undefined; { value } = await reader.read()) {
    bytes += value.length;
    if (bytes > mostBytes) {
      reader.cancel().catch(() => undefined);
      throw new Error(`the answer has more than ${mostBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

/** Browsers set their own, and a further header would need a preflight. */
function userAgent(): Record<string, string> {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node ? { 'user-agent': `integration-service-sdk-typescript/${version}` } : {};
}

function hostOf(url: string): string {
  return new URL(url).host;
}

/** `fetch failed` says little; its cause says more. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: unknown; message?: string }; message?: string };
  // That of a DOMException is a number.
  const code = typeof cause?.code === 'string' ? cause.code : undefined;
  return code ?? cause?.message ?? message ?? String(error);
}

/** The JSON of an answer; undefined if there is none. */
export function jsonOf({ headers, text }: Incoming): unknown {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '')) {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** In seconds or as a date (RFC 9110). */
export function retryAfterSecondsOf(headers: Headers, now = Date.now()): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(value)) {
    return Number(value);
  }
  // `Date.parse` takes numbers for dates too; those of HTTP begin with the day of the week.
  const at = /^[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1000));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Host names of this machine, as `URL` writes them. */
const LOOPBACK = /^(?:localhost|\[::1\]|127(?:\.\d+){3})$/;

/**
 * Removes a trailing slash; throws for an invalid address, and for one beyond loopback where http:// would
 * send `what` unencrypted.
 */
export function serverUrl(name: string, address: string, what: string, allowInsecureHttp = false): string {
  // Paths are appended to it. `URL` would remove white space.
  if (!/^https?:\/\/[^?#\s]+$/i.test(address) || !URL.canParse(address)) {
    throw new TypeError(`${name} must be an address that begins with https:// or http://, without ? and #.`);
  }
  const { username, password, protocol, hostname } = new URL(address);
  if (username !== '' || password !== '') {
    throw new TypeError(`${name} must have no user name and no password: they would be in messages.`);
  }
  if (protocol === 'http:' && !LOOPBACK.test(hostname) && !allowInsecureHttp) {
    throw new TypeError(
      `${name} with http:// would send ${what} unencrypted. Use https://, or allow it with allowInsecureHttp.`,
    );
  }
  return address.replace(/\/+$/, '');
}

/** For a header. Its errors would repeat the secret. */
export function checkSecret(secret: unknown, message: string): void {
  if (typeof secret !== 'string' || !/^[\x21-\x7e]+$/.test(secret)) {
    throw new TypeError(message);
  }
}
