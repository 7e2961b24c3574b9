import type { SubscriptionId } from '../../../../generated/ids.js';

/**
 * The subscriptions with new due deliveries; undefined if these are unknown or too many to name. Only a hint
 * where claims look first: they check everything themselves.
 */
export type NewlyDue = ReadonlySet<SubscriptionId> | undefined;

export const NONE_DUE: NewlyDue = new Set();

/** A notification of PostgreSQL holds up to 8,000 bytes, and a claim looks at no more subscriptions. */
const MOST_NAMED = 256;

export function bothDue(one: NewlyDue, other: NewlyDue): NewlyDue {
  if (one === undefined || other === undefined) {
    return undefined;
  }
  const all = new Set([...one, ...other]);
  return all.size > MOST_NAMED ? undefined : all;
}

export function isAnyDue(due: NewlyDue): boolean {
  return due === undefined || due.size > 0;
}
