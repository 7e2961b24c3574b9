import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { HttpAnswer, HttpRequest } from '../http/exchange.js';
import { acceptsGzip, gzipTag, isHeld, WORTH_COMPRESSING_BYTES } from '../http/representations.js';

const compress = promisify(gzip);

const MAX_AGE_SECONDS = 300;
const COMPRESSIBLE = /^text\/|^application\/(?:json|yaml)\b/;

/** Static bytes at a path. */
export class Resource {
  readonly #bytes: Buffer;
  readonly #headers: Record<string, string>;
  readonly #tag: string;
  readonly #isCompressible: boolean;
  #compressed: Promise<Buffer> | undefined;

  constructor(bytes: Buffer, type: string, headers: Record<string, string> = {}) {
    this.#bytes = bytes;
    this.#tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
    this.#isCompressible = COMPRESSIBLE.test(type) && bytes.length > WORTH_COMPRESSING_BYTES;
    this.#headers = {
      'content-type': type,
      'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
      ...(this.#isCompressible ? { vary: 'Accept-Encoding' } : {}),
      ...headers,
    };
  }

  /** 200, or 304 for a matching entity tag. */
  async answer({ headers }: HttpRequest): Promise<HttpAnswer> {
    const zipped = this.#isCompressible && acceptsGzip(headers['accept-encoding']);
    const plain = `"${this.#tag}"`;
    const etag = zipped ? gzipTag(plain) : plain;
    const answered = { ...this.#headers, etag, ...(zipped ? { 'content-encoding': 'gzip' } : {}) };
    const held = [etag, plain].find((tag) => isHeld(headers['if-none-match'], [tag]));
    if (held !== undefined) {
      const {
        'content-encoding': _,
        'content-type': __,
        'content-disposition': ___,
        ...kept
      } = answered as Record<string, string>;
      // A cache may only use the copy with the tag of this answer (RFC 9111, section 4.3.4).
      return { status: 304, headers: { ...kept, etag: held } };
    }
    return { status: 200, headers: answered, body: zipped ? await this.#gzipped() : this.#bytes };
  }

  /** Compressed once, on the first request: most pages are rarely read. */
  #gzipped(): Promise<Buffer> {
    this.#compressed ??= compress(this.#bytes, { level: constants.Z_BEST_COMPRESSION });
    return this.#compressed;
  }
}
