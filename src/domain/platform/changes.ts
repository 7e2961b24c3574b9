import { isDeepStrictEqual } from 'node:util';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** The fields to update: those in the mask (null clears) or, without one, those with a value. */
export function updatedFields<T extends object>(
  values: T,
  mask: readonly string[] | undefined,
  clearable: readonly (keyof T)[],
): { [K in keyof T]?: NonNullable<T[K]> | null } {
  const names = Object.keys(values) as (keyof T & string)[];
  if (mask === undefined) {
    return Object.fromEntries(
      names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
    ) as never;
  }
  const byPath = new Map(names.map((name) => [snakeCase(name), name]));
  const chosen = mask.map((path) => byPath.get(path));
  const unknown = mask.filter((_, index) => chosen[index] === undefined);
  const empty = (chosen as (keyof T)[]).filter(
    (name) => name !== undefined && values[name] === undefined && !clearable.includes(name),
  );
  if (unknown.length > 0 || empty.length > 0) {
    const fieldViolations = [
      ...unknown.map((path) => ({ path: 'update_mask', message: `does not know ${path}` })),
      ...empty.map((name) => ({ path: snakeCase(String(name)), message: 'cannot be cleared' })),
    ];
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The mask cannot be applied.', { fieldViolations });
  }
  return Object.fromEntries((chosen as (keyof T)[]).map((name) => [name, values[name] ?? null])) as never;
}

/** Whether writing the fields would change anything. */
export function changesAnything<T extends object>(present: T, fields: { [K in keyof T]?: unknown }): boolean {
  return (Object.keys(fields) as (keyof T)[]).some((name) => !isDeepStrictEqual(present[name], fields[name]));
}

/** Derived fields, and those that only indicate a write. */
export const UNTOLD: ReadonlySet<string> = new Set(['id', 'version', 'createdAt', 'updatedAt', 'fullName']);

/** Names of changed fields, as callers know them; the audit log has no values. */
export function changedFields<T extends object>(before: T, after: T): { fields: string } {
  const changed = (Object.keys(after) as (keyof T & string)[]).filter(
    (name) => !UNTOLD.has(name) && !isDeepStrictEqual(before[name], after[name]),
  );
  return { fields: changed.map(snakeCase).sort().join(' ') };
}

/** A decision based on an old version is refused, so that the administrator reads again. */
export function assertExpectedVersion(present: { version: string }, expected: string | undefined): void {
  if (expected !== undefined && expected !== present.version) {
    throw changedMeanwhile();
  }
}

export function changedMeanwhile(): ServiceError {
  const message = 'It was changed in the meantime. Read it again and decide anew.';
  return new ServiceError(ErrorCode.VERSION_CONFLICT, message);
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
