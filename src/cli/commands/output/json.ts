import { printableJson } from './printable.js';

/** As JSON of protobuf, with bytes in base64. Untrusted text in it is safe to print on a terminal. */
export function asJson(value: unknown, indent = 2): string {
  return printableJson(JSON.stringify(value, bytesAsBase64, indent));
}

/** As one line, for streams of objects. */
export function asJsonLine(value: unknown): string {
  return asJson(value, 0);
}

/** `value` is the outcome of `toJSON`; the holder still has the bytes. */
function bytesAsBase64(this: unknown, key: string, value: unknown): unknown {
  const original: unknown = Reflect.get(this as object, key);
  return original instanceof Uint8Array ? Buffer.from(original).toString('base64') : value;
}
