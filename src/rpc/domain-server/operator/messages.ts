import { KeyStatus } from '../../../../generated/proto/integration/operator/v1/api_keys.js';
import { words } from '../words.js';

export const KEY_STATUSES = words(KeyStatus);

export const fromKeyStatus = fromEnum(KEY_STATUSES);

/** Converts an enum of the contract; unspecified and newer values become undefined. */
export function fromEnum<Ours extends string, Theirs extends string>(
  table: Record<Ours, Theirs>,
): (value: Theirs | undefined) => Ours | undefined {
  const entries = Object.entries(table) as [Ours, Theirs][];
  return (value) => entries.find(([, theirs]) => theirs === value)?.[0];
}

export function toDate(at: number | null): Date | undefined {
  return at === null ? undefined : new Date(at);
}
