import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { BodyStream, Dispatch, DispatchedAnswer } from './exchange.js';

const compress = promisify(gzip);

/** Smaller bodies gain nothing from compression. */
export const WORTH_COMPRESSING_BYTES = 1_400;

/** Small blocks, so that a list arrives as steadily as it is made, with little memory for each reader. */
const SETTINGS = { level: 3, memLevel: 5, windowBits: 13 };

/** In the entity tag of a compressed answer: other bytes need another tag. */
const TAG_SUFFIX = '-gz';

/** The entity tag of the compressed answer. */
export const gzipTag = (etag: string) => etag.replace(/"$/, `${TAG_SUFFIX}"`);

/** The opaque part of an entity tag as it is without compression. */
export const plainTag = (opaque: string) =>
  opaque.endsWith(TAG_SUFFIX) ? opaque.slice(0, -TAG_SUFFIX.length) : opaque;

export function acceptsGzip(accepted: string | string[] | undefined): boolean {
  return /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0+)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i.test(String(accepted ?? ''));
}

/** Compresses the JSON of successful answers where the client accepts it. */
export function withGzip(dispatch: Dispatch): Dispatch {
  return async (request) => {
    const answer = await dispatch(request);
    const { 'accept-encoding': accepted, 'if-none-match': held = '' } = request.headers;
    if (!acceptsGzip(accepted)) {
      return answer;
    }
    return answer.status === 304 ? withHeldTag(answer, held) : compressed(answer);
  };
}

/** With the tag that the client sent. */
function withHeldTag(answer: DispatchedAnswer, held: string): DispatchedAnswer {
  const tag = gzipTag(String(answer.headers.ETag));
  return held.includes(tag) ? { ...answer, headers: { ...answer.headers, ETag: tag } } : answer;
}

async function compressed(answer: DispatchedAnswer): Promise<DispatchedAnswer> {
  const { status, headers, body = '' } = answer;
  if (status !== 200 || headers['content-type'] !== 'application/json') {
    return answer;
  }
  const coded = { ...headers, 'content-encoding': 'gzip', ETag: gzipTag(String(headers.ETag)) };
  if (typeof body === 'object' && !Buffer.isBuffer(body)) {
    return { ...answer, headers: coded, body: new CompressedStream(body) };
  }
  return Buffer.byteLength(body) < WORTH_COMPRESSING_BYTES
    ? answer
    : { ...answer, headers: coded, body: await compress(body, SETTINGS) };
}

/** No generator: `return` on an unstarted one would not release the source. */
class CompressedStream implements AsyncIterableIterator<Buffer> {
  readonly #gzip = createGzip(SETTINGS);
  readonly #pieces: AsyncIterator<Buffer> = this.#gzip[Symbol.asyncIterator]();
  readonly #ended: Promise<void>;

  constructor(source: BodyStream) {
    // An error of the source reaches the consumer by way of the pieces.
    this.#ended = pipeline(Readable.from(source, { objectMode: false }), this.#gzip).catch(() => undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer>> {
    return this.#pieces.next();
  }

  /** Releases the source, whether or not it was read to the end. */
  async return(): Promise<IteratorResult<Buffer>> {
    this.#gzip.destroy();
    await this.#ended;
    return { done: true, value: undefined };
  }
}
