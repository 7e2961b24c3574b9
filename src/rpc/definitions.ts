import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** A method as ts-proto generates it, with its encoders. */
// biome-ignore lint/suspicious/noExplicitAny: the message types are inferred from each definition.
export type AnyMethod = MethodDefinition<any, any>;
export type AnyService = ServiceDefinition & Record<string, AnyMethod>;

export type RequestOf<M> = M extends { requestSerialize: (message: infer T) => Buffer } ? T : never;
export type ResponseOf<M> = M extends { responseSerialize: (message: infer T) => Buffer } ? T : never;

/** What may be sent: null for absent fields, milliseconds for times; so domain values fit as messages. */
export type Sent<T> = T extends Date
  ? Date | number
  : T extends string | Uint8Array
    ? T
    : T extends (infer Item)[]
      ? readonly Sent<Item>[]
      : T extends object
        ? { readonly [Name in keyof T]: Sent<T[Name]> | (undefined extends T[Name] ? null : never) }
        : T;

/** `integration.directory.v1.DirectoryService`, from the path of any of its methods. */
export function serviceNameOf(service: AnyService): string {
  const path = Object.values(service)[0]?.path ?? '';
  return path.split('/')[1] ?? '';
}
