import type { InstanceId, InstanceIntegrationId, SubscriptionId } from '../../../generated/ids.js';

export type SubscriptionStatus = 'ACTIVE' | 'DISABLED';

export type DisabledReason = 'OPERATOR' | 'GONE' | 'FAILING' | 'UNCONFIGURED';

/** Who receives which events, and where. */
export interface Subscription {
  id: SubscriptionId;
  instanceIntegrationId: InstanceIntegrationId;
  instanceId: InstanceId;
  url: string;
  /** Exact types, `user.*`, or `*`. */
  eventTypes: readonly string[];
  /** None stands for all clients of the instance. */
  clientIds: readonly string[];
  description: string;
  status: SubscriptionStatus;
  disabledReason: DisabledReason | null;
  disabledAt: number | null;
  lastSuccessAt: number | null;
  failingSince: number | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

/** Seals the secrets that deliveries are signed with, each for the id of its row. */
export interface SecretBox {
  seal(content: Uint8Array, name: string): string;
  open(sealed: string, name: string): Uint8Array;
}
