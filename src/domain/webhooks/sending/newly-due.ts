import type { SubscriptionId } from '../../../../generated/ids.js';

/**
 * Subscriptions with new due deliveries; undefined if they are unknown or too many. Only a hint: a claim
 * looks at these first, and checks everything itself.
 */
export type NewlyDue = ReadonlySet<SubscriptionId> | undefined;

export const NONE_DUE: NewlyDue = new Set();

/** As many fit into a notification of PostgreSQL (8,000 bytes), and a claim looks at no more. */
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
