import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto';
import type { ChangeCursors, ReaderPlace } from '../domain/directory/changes.js';
import { unknownCursor } from '../domain/directory/page.js';

const CIPHER = 'aes-256-ctr';
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const LIFE_BYTES = 6;
const NUMBER_BYTES = 8;
/** The layout of the sealed content. Its length is constant, so it discloses nothing about the numbers. */
const AT = {
  position: LIFE_BYTES,
  beganAt: LIFE_BYTES + NUMBER_BYTES,
  newest: LIFE_BYTES + 2 * NUMBER_BYTES,
};
const CONTENT_BYTES = LIFE_BYTES + 3 * NUMBER_BYTES;
/** The part of the instance integration's id that a cursor contains, to recognize a cursor of another one. */
const OWNER = { from: 4, to: 8 };
/** The type of the entity may be one of a newer release: the tag tells which cursors a domain wrote. */
const CURSOR = /^(\w+)\.(\w{26})\.([\w-]{62})\.(\w{4})$/;

/**
 * Entity type and id, which the reader sees beside the cursor, then the sealed rest, then the owner. The
 * initialization vector is synthetic (SIV): the HMAC of the whole place is the tag, and the first counter of
 * the cipher. The key is never replaced, and a page has hundreds of cursors: random nonces could repeat.
 */
export function changeCursors(key: Uint8Array): ChangeCursors {
  const keyFor = (use: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `cursors/${use}`, KEY_BYTES)));
  const [macKey, cipherKey] = [keyFor('mac'), keyFor('cipher')];
  // Neither contains its separator, so different inputs never give the same bytes.
  const tagOf = (content: Uint8Array, entity: string, reader: string) =>
    createHmac('sha256', macKey)
      .update(`${entity}.${reader}\0`)
      .update(content)
      .digest()
      .subarray(0, TAG_BYTES);
  return {
    write: (place, reader) => {
      const entity = `${place.after.type}.${place.after.id}`;
      const content = contentOf(place);
      const tag = tagOf(content, entity, reader);
      const sealed = Buffer.concat([tag, createCipheriv(CIPHER, cipherKey, tag).update(content)]);
      return `${entity}.${sealed.toString('base64url')}.${ownerOf(reader)}`;
    },
    read: (cursor, reader) => {
      const [, type, id = '', sealed = '', owner] = CURSOR.exec(cursor) ?? [];
      if (type === undefined || owner !== ownerOf(reader)) {
        throw unknownCursor('query.after');
      }
      const bytes = Buffer.from(sealed, 'base64url');
      const tag = bytes.subarray(0, TAG_BYTES);
      const content = createDecipheriv(CIPHER, cipherKey, tag).update(bytes.subarray(TAG_BYTES));
      // Accepts only the spelling that `write` gives: base64url has others for the same bytes.
      const isWritten = bytes.toString('base64url') === sealed;
      const isGenuine = timingSafeEqual(tagOf(content, `${type}.${id}`, reader), tag);
      return isWritten && isGenuine ? placeIn(content, type, id) : undefined;
    },
  };
}

/**
 * A double holds every safe integer exactly, and is written faster than a BigInt. `beganAt` is negative once
 * the load is over.
 */
function contentOf({ life, after, beganAt, isLoading, newest }: ReaderPlace): Buffer {
  const content = Buffer.alloc(CONTENT_BYTES);
  content.write(life, 'hex');
  content.writeDoubleBE(after.position, AT.position);
  content.writeDoubleBE(isLoading ? beganAt : 0 - beganAt, AT.beganAt);
  content.writeDoubleBE(newest, AT.newest);
  return content;
}

function placeIn(content: Buffer, type: string, id: string): ReaderPlace {
  const beganAt = content.readDoubleBE(AT.beganAt);
  return {
    life: content.toString('hex', 0, LIFE_BYTES),
    after: { position: content.readDoubleBE(AT.position), type, id },
    beganAt: Math.abs(beganAt),
    isLoading: beganAt > 0,
    newest: content.readDoubleBE(AT.newest),
  };
}

function ownerOf(reader: string): string {
  return reader.slice(OWNER.from, OWNER.to);
}
