import { KeyStatus as KeyStatusMessage } from '../../../../generated/proto/integration/operator/v1/api_keys.js';
import type { KeyStatus } from '../../../domain/operator/lifetime.js';

const KEY_STATUSES: Record<KeyStatus, KeyStatusMessage> = {
  active: KeyStatusMessage.ACTIVE,
  expired: KeyStatusMessage.EXPIRED,
  revoked: KeyStatusMessage.REVOKED,
};

export function toKeyStatusMessage(status: KeyStatus): KeyStatusMessage {
  return KEY_STATUSES[status];
}

export const fromKeyStatusMessage = fromEnum(KEY_STATUSES);

/** From a value of the contract to ours; what stands for nothing, or is of a newer contract, is undefined. */
export function fromEnum<Ours extends string, Theirs extends string>(
  table: Record<Ours, Theirs>,
): (value: Theirs | undefined) => Ours | undefined {
  const entries = Object.entries(table) as [Ours, Theirs][];
  return (value) => entries.find(([, theirs]) => theirs === value)?.[0];
}

export function toDate(at: number | null): Date | undefined {
  return at === null ? undefined : new Date(at);
}
