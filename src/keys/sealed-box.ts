import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The seal cannot be opened: another key, another name, or changed bytes. */
export class SealError extends Error {
  constructor(message = 'The sealed value was made with another key, or was changed.') {
    super(message);
    this.name = 'SealError';
  }
}

export interface Box {
  seal(content: Uint8Array, name: string): string;
  open(text: string, name: string): Buffer<ArrayBuffer>;
}

/** AES-256-GCM with one key. A seal opens only for the name it was made for: seals cannot be swapped. */
export class SealedBox implements Box {
  readonly #key: KeyObject;

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key);
  }

  /** Version, nonce, ciphertext and tag, in base64url. */
  seal(content: Uint8Array, name: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(boundTo(name));
    const sealed = [cipher.update(content), cipher.final()];
    return Buffer.concat([Buffer.of(VERSION), nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** Accepts only the spelling that `seal` gives: base64url has others for the same bytes. */
  open(text: string, name: string): Buffer<ArrayBuffer> {
    const bytes = Buffer.from(text, 'base64url');
    const isWhole = bytes.length >= 1 + NONCE_BYTES + TAG_BYTES && bytes.toString('base64url') === text;
    if (!isWhole || bytes[0] !== VERSION) {
      throw new SealError();
    }
    const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(name));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(1 + NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      throw new SealError();
    }
  }
}

function boundTo(name: string): Buffer {
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(name)]);
}

/** The content of a seal; undefined if it cannot be opened. */
export function opened(open: () => Buffer<ArrayBuffer>): Buffer<ArrayBuffer> | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof SealError) {
      return undefined;
    }
    throw error;
  }
}
