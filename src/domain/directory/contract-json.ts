import type { components, operations } from '../../../generated/openapi/gateway.js';

/** The resources of the gateway, as its contract defines them. */
export type Schemas = components['schemas'];

/** An operation of the gateway, and the body that it answers with. */
export type OperationId = keyof operations;
export type BodyOf<Id extends OperationId> = operations[Id]['responses'][200]['content']['application/json'];

declare const type: unique symbol;

/** JSON text of a value of this type exactly: a subtype would have members that the contract does not. */
export type JsonOf<T> = string & { readonly [type]: (value: T) => T };

export function jsonOf<T>(value: T): JsonOf<T> {
  return JSON.stringify(value) as JsonOf<T>;
}

export function jsonArray<T>(rows: readonly JsonOf<T>[]): JsonOf<T[]> {
  return `[${rows.join(',')}]` as JsonOf<T[]>;
}

export function jsonObject<T>(members: { [Name in keyof T]: JsonOf<T[Name]> }): JsonOf<T> {
  const pairs = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return `{${pairs.join(',')}}` as JsonOf<T>;
}
