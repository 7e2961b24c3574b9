import type { InstanceId, InstanceIntegrationId, SubscriptionId } from '../../../../generated/ids.js';
import type { Versioned } from '../../version.js';

export type SubscriptionStatus = 'ACTIVE' | 'DISABLED';

export type DisabledReason = 'OPERATOR' | 'GONE' | 'FAILING' | 'UNCONFIGURED';

/** A subscriber: events, filters and address. */
export interface Subscription extends Versioned {
  id: SubscriptionId;
  instanceIntegrationId: InstanceIntegrationId;
  instanceId: InstanceId;
  url: string;
  /** Exact types, `user.*`, or `*`. */
  eventTypes: readonly string[];
  /** Empty means all clients of the instance. */
  clientIds: readonly string[];
  description: string;
  status: SubscriptionStatus;
  disabledReason: DisabledReason | null;
  disabledAt: number | null;
  lastSuccessAt: number | null;
  failingSince: number | null;
}

/** Seals signing secrets, each for the id of its row. */
export interface SecretBox {
  seal(content: Uint8Array, name: string): string;
  open(sealed: string, name: string): Uint8Array;
}
