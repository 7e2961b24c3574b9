import type { Client, Instance } from '../platform/rows/organization.js';
import type { Attributed, CommonChanges, UnitOfWork } from '../unit-of-work.js';
import type { DeliveryLogRows } from '../webhooks/logs/deliveries.js';
import type { EventLogRows } from '../webhooks/logs/events.js';
import type { SubscriptionDeliveryRows, SubscriptionRows } from '../webhooks/subscriptions/rows.js';
import type { AuditRows } from './audit.js';
import type { ApplicationRows } from './rows/applications.js';
import type { EncryptionKeyRows } from './rows/encryption-keys.js';
import type { ApiKeyRows, InstanceIntegrationRows, IntegrationRows } from './rows/integrations.js';
import type { ServiceTokenRows } from './rows/service-tokens.js';

export interface OperatorRows {
  readonly instances: { find(id: string): Promise<Instance | undefined> };
  readonly clients: { find(id: string): Promise<Client | undefined> };
  readonly integrations: IntegrationRows;
  readonly instanceIntegrations: InstanceIntegrationRows;
  readonly apiKeys: ApiKeyRows;
  readonly serviceTokens: ServiceTokenRows;
  readonly applications: ApplicationRows;
  readonly auditEvents: AuditRows;
  readonly encryptionKeys: EncryptionKeyRows;
  /** Deleted with their instance integration. */
  readonly subscriptions: SubscriptionRows;
  /** The deliveries of one subscription. */
  readonly deliveries: SubscriptionDeliveryRows;
  readonly deliveryLog: DeliveryLogRows;
  readonly eventLog: EventLogRows;
}

/**
 * All rows that one write may change, in its transaction. A subscription is locked by
 * `subscriptions.findLocked`.
 */
export interface OperatorChanges extends OperatorRows, CommonChanges, Attributed {}

/** `inNameOf` gives its writes their actor. Inserted deliveries wake waiting claims. */
export type OperatorUnitOfWork = UnitOfWork<Omit<OperatorChanges, 'actor'>, OperatorRows>;
