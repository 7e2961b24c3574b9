import { printableJson } from './printable.js';

/**
 * As JSON of protobuf, with bytes in base64 and what is set of a oneof under its own name. Untrusted text in
 * it is safe to print on a terminal.
 */
export function asJson(value: unknown, indent = 2): string {
  return printableJson(JSON.stringify(value, asInProtobuf, indent));
}

/** As one line, for streams of objects. */
export function asJsonLine(value: unknown): string {
  return asJson(value, 0);
}

/** `value` is the outcome of `toJSON`; the holder still has the bytes. */
function asInProtobuf(this: unknown, key: string, value: unknown): unknown {
  const original: unknown = Reflect.get(this as object, key);
  if (original instanceof Uint8Array) {
    return Buffer.from(original).toString('base64');
  }
  const isMessage = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMessage ? Object.fromEntries(Object.entries(value).map(chosen)) : value;
}

function chosen([name, value]: [string, unknown]): [string, unknown] {
  const choice = value as { $case?: string; value?: unknown } | null | undefined;
  return typeof choice?.$case === 'string' ? [choice.$case, choice.value] : [name, value];
}
