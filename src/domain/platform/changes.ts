import { isDeepStrictEqual } from 'node:util';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newVersion, type Versioned } from '../version.js';

/** Rows of one change that are written with few round trips. */
export const BATCH_ROWS = 250;

/** Names the fields to update, and the version on which the decision is based. */
export interface Update {
  updateMask?: readonly string[];
  expectedVersion?: string;
}

/** The request without blanks around these texts. */
export function trimmed<T extends object>(request: T, ...texts: (keyof T)[]): T {
  const given = texts.filter((name) => typeof request[name] === 'string');
  return { ...request, ...Object.fromEntries(given.map((name) => [name, String(request[name]).trim()])) };
}

/**
 * The fields to update: those in the mask (null clears) or, without one, those with a value. An empty list
 * and an absent one are the same in a message.
 */
export function updatedFields<T extends Update, Kept extends keyof T, Clearable extends keyof T = never>(
  update: T,
  kept: readonly Kept[],
  clearable: readonly Clearable[] = [],
): { [K in Kept]?: NonNullable<T[K]> } & { [K in Clearable]?: NonNullable<T[K]> | null } {
  type Name = (Kept | Clearable) & string;
  const names = [...kept, ...clearable] as Name[];
  const isGiven = (value: unknown) => value != null && !(Array.isArray(value) && value.length === 0);
  const given = new Map(names.filter((name) => isGiven(update[name])).map((name) => [name, update[name]]));
  const { updateMask } = update;
  if (updateMask === undefined) {
    return Object.fromEntries(given) as never;
  }
  const byPath = new Map(names.map((name) => [snakeCase(name), name]));
  const chosen = updateMask.flatMap((path) => byPath.get(path) ?? []);
  const unknown = updateMask.filter((path) => !byPath.has(path));
  const empty = chosen.filter((name) => !given.has(name) && (kept as readonly string[]).includes(name));
  if (unknown.length > 0 || empty.length > 0) {
    const fieldViolations = [
      ...unknown.map((path) => ({ path: 'update_mask', message: `does not know ${path}` })),
      ...empty.map((name) => ({ path: snakeCase(name), message: 'cannot be cleared' })),
    ];
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The mask cannot be applied.', { fieldViolations });
  }
  return Object.fromEntries(chosen.map((name) => [name, given.get(name) ?? null])) as never;
}

/** The fields whose writing would change something. */
export function differing<T extends object>(present: T, fields: { [K in keyof T]?: unknown }): Partial<T> {
  const changed = Object.entries(fields).filter(
    ([name, value]) => !isDeepStrictEqual(present[name as keyof T], value),
  );
  return Object.fromEntries(changed) as Partial<T>;
}

export function changesAnything<T extends object>(present: T, fields: { [K in keyof T]?: unknown }): boolean {
  return Object.keys(differing(present, fields)).length > 0;
}

/** Writes the row with these fields, a new version and this time, unless they would change nothing. */
export async function writeChanged<Row extends Versioned>(
  present: Row,
  fields: Partial<NoInfer<Row>>,
  now: number,
  write: (changed: Row) => Promise<void>,
): Promise<Row> {
  if (!changesAnything<Row>(present, fields)) {
    return present;
  }
  const changed = { ...present, ...fields, version: newVersion(), updatedAt: now };
  await write(changed);
  return changed;
}

/** Fields that the audit log leaves out: derived ones, and those that every write changes. */
export const NOT_AUDITED: ReadonlySet<string> = new Set([
  'id',
  'version',
  'createdAt',
  'updatedAt',
  'fullName',
]);

/** Names of changed fields, as callers know them; the audit log has no values. */
export function changedFields<T extends object>(before: T, after: T): { fields: string } {
  const changed = Object.keys(differing(before, after)).filter((name) => !NOT_AUDITED.has(name));
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
