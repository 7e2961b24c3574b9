import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { OwnerSlots } from '../../fairness/owner-slots.js';
import { type BodyStream, bodyStream, type Dispatch, type DispatchedAnswer, isStream } from './exchange.js';

/** The entity tags of an If-None-Match header, of weak ones without their mark. */
function tagsIn(ifNoneMatch: string): string[] {
  return ifNoneMatch.match(/"[^"]*"/g) ?? [];
}

/** Whether the client holds one of the representations with these entity tags. */
export function isHeld(ifNoneMatch = '', tags: readonly string[]): boolean {
  return ifNoneMatch.trim() === '*' || tagsIn(ifNoneMatch).some((tag) => tags.includes(tag));
}

const SALT_LENGTH = 12;

/** A strong entity tag: a salt of operation, address and contract, and the version of the data. */
export class EntityTags {
  constructor(private readonly contractHash: string) {}

  /** Distinguishes operation and address. */
  saltOf(operationId: string, address: string): string {
    const question = `${this.contractHash}\n${operationId}\n${address}`;
    return createHash('sha256').update(question).digest('base64url').slice(0, SALT_LENGTH);
  }

  tagOf(salt: string, version: string): string {
    return `"${salt}.${version}"`;
  }

  /** The versions that an If-None-Match header names for this address; other tags are ignored. */
  knownVersions(salt: string, ifNoneMatch = ''): { knownVersions: string[]; anyVersionKnown: boolean } {
    const start = `"${salt}.`;
    const knownVersions = tagsIn(ifNoneMatch)
      .filter((tag) => tag.startsWith(start))
      .map((tag) => tag.slice(start.length, -1));
    return { knownVersions, anyVersionKnown: ifNoneMatch.trim() === '*' };
  }
}

const compress = promisify(gzip);

/** Smaller bodies gain nothing from compression. */
export const WORTH_COMPRESSING_BYTES = 1_400;

/** Small blocks, so that a list arrives as steadily as it is made, with little memory for each reader. */
const SETTINGS = { level: 3, memLevel: 5, windowBits: 13 };

/** Compressions in progress: as many as Node has threads for them and for the checks of tokens. */
const MOST_AT_ONCE = 4;

/** In the entity tag of a compressed answer: other bytes need another tag. No version contains a dot. */
const TAG_SUFFIX = '.gz"';

/** The entity tag of the compressed answer. */
export const gzipTag = (etag: string) => etag.replace(/"$/, TAG_SUFFIX);

export function acceptsGzip(accepted: string | string[] | undefined): boolean {
  return /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i.test(String(accepted ?? ''));
}

/** Compresses the JSON of successful answers where the client accepts it and there is a slot. */
export function withGzip(dispatch: Dispatch): Dispatch {
  const slots = new OwnerSlots({ inTotal: MOST_AT_ONCE });
  return async (request) => {
    const { 'accept-encoding': accepted, 'if-none-match': held = '' } = request.headers;
    if (!acceptsGzip(accepted)) {
      return dispatch(request);
    }
    const plain = held.replaceAll(TAG_SUFFIX, '"');
    const answer = await dispatch(
      plain === held ? request : { ...request, headers: { ...request.headers, 'if-none-match': plain } },
    );
    return answer.status === 304 ? withHeldTag(answer, held) : compressed(answer, slots);
  };
}

/** With the tag that the client sent. */
function withHeldTag(answer: DispatchedAnswer, held: string): DispatchedAnswer {
  const tag = gzipTag(String(answer.headers.ETag));
  return held.includes(tag) ? { ...answer, headers: { ...answer.headers, ETag: tag } } : answer;
}

async function compressed(answer: DispatchedAnswer, slots: OwnerSlots): Promise<DispatchedAnswer> {
  const { status, headers, body = '', facts } = answer;
  if (
    status !== 200 ||
    headers['content-type'] !== 'application/json' ||
    !(isStream(body) || Buffer.byteLength(body) >= WORTH_COMPRESSING_BYTES)
  ) {
    return answer;
  }
  const owner = String(facts?.integrationId);
  if (!slots.take(owner)) {
    return answer;
  }
  const leave = () => slots.give(owner);
  const coded = { ...headers, 'content-encoding': 'gzip', ETag: gzipTag(String(headers.ETag)) };
  return {
    ...answer,
    headers: coded,
    body: isStream(body) ? compressedStream(body, leave) : await compress(body, SETTINGS).finally(leave),
  };
}

function compressedStream(source: BodyStream, ended: () => void): BodyStream {
  const coder = createGzip(SETTINGS);
  const pieces: AsyncIterator<Buffer> = coder[Symbol.asyncIterator]();
  // An error of the source reaches the consumer by way of the pieces.
  const over = pipeline(Readable.from(source, { objectMode: false }), coder).then(ended, ended);
  return bodyStream(
    () => pieces.next(),
    () => {
      coder.destroy();
      return over;
    },
  );
}
