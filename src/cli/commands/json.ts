import { printableJson } from './printable.js';

/** In the JSON of protobuf, as scripts know it: bytes are base64. Also a terminal may be shown it, whoever wrote what is in it. */
export function asJson(value: unknown, indent = 2): string {
  return printableJson(JSON.stringify(value, bytesAsBase64, indent));
}

/** As one line, for what comes one after the other. */
export function asJsonLine(value: unknown): string {
  return asJson(value, 0);
}

/** The holder still has the bytes where `value` is what they made of themselves. */
function bytesAsBase64(this: unknown, key: string, value: unknown): unknown {
  const original: unknown = Reflect.get(this as object, key);
  return original instanceof Uint8Array ? Buffer.from(original).toString('base64') : value;
}
