import type { Visitor } from '../access/gatekeeper.js';

/** The versions of an answer that the caller already holds. */
export interface KnownVersions {
  values: readonly string[];
  any: boolean;
}

/** What a read gives: the version first, and rows only when the caller does not hold that version yet. */
export interface Answer<T> {
  visitor: Visitor;
  version: string;
  /** Absent when not modified. */
  content: T | undefined;
}

export function isKnown(version: string, known: KnownVersions): boolean {
  return known.any || known.values.includes(version);
}
