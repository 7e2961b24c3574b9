import { BinaryWriter } from '@bufbuild/protobuf/wire';

/**
 * A writer keeps memory for its longest message, and is dropped after a message longer than this. It keeps 1
 * MiB at most, because it reserves three bytes per character.
 */
const LONGEST_KEPT = 256 * 1_024;

interface Type<T> {
  encode(message: T, writer: BinaryWriter): BinaryWriter;
}

let idle: BinaryWriter | undefined;

/** A message in bytes. Messages are written one after another into the same memory, and copied once. */
export function encoded<T>(type: Type<T>, message: T): Buffer {
  const writer = idle ?? new BinaryWriter();
  // A message that cannot be encoded leaves its first half in the writer.
  idle = undefined;
  const bytes = type.encode(message, writer).finish();
  if (bytes.length <= LONGEST_KEPT) {
    idle = writer;
  }
  return bytesOf(bytes);
}

/**
 * A bytes field of a received message. A small field is copied: sharing would keep the whole message in
 * memory.
 */
export function fieldOf(bytes: Uint8Array): Buffer {
  return 2 * bytes.byteLength < bytes.buffer.byteLength ? Buffer.from(bytes) : bytesOf(bytes);
}

/** Unlike `Buffer.from(array)`, makes no copy. */
function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
