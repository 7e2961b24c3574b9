import type { Instance } from '../platform/instances.js';
import type { WriteOrigin } from '../platform/unit-of-work.js';
import type { SubscriptionDeliveryRows } from '../webhooks/subscription-deliveries.js';
import type { SubscriptionRows } from '../webhooks/subscription-rows.js';
import type { ApiKeyRows } from './api-keys.js';
import type { ApplicationRows } from './applications.js';
import type { Actor, AuditRows, RecordedAction } from './audit.js';
import type { ConnectionRows } from './connections.js';
import type { EncryptionKeyRows } from './encryption-keys.js';
import type { IntegrationRows } from './integrations.js';
import type { ServiceTokenRows } from './service-tokens.js';

/** Everything that operators may look at. */
export interface OperatorRows {
  readonly instances: { find(id: string): Promise<Instance | undefined> };
  readonly integrations: IntegrationRows;
  readonly connections: ConnectionRows;
  readonly apiKeys: ApiKeyRows;
  readonly serviceTokens: ServiceTokenRows;
  readonly applications: ApplicationRows;
  readonly auditEvents: AuditRows;
  readonly encryptionKeys: EncryptionKeyRows;
}

/** Everything that one write may touch, inside its one transaction. */
export interface OperatorChanges extends OperatorRows {
  /** The time of the write: its rows and its audit event all carry it. */
  readonly now: number;
  /** Those of webhooks go with their connection. */
  readonly subscriptions: SubscriptionRows;
  readonly deliveries: SubscriptionDeliveryRows;
  /** As in `../platform/unit-of-work.ts`; an instance before an integration, and either before what belongs to them. */
  lock(...subjectIds: string[]): Promise<void>;
  /** Gives the subject's data a new version: whoever holds an answer about it must read again. */
  touch(...subjectIds: string[]): Promise<void>;
  /** Writes the audit event of the change, in the name of whoever makes it. */
  record(action: RecordedAction): Promise<void>;
}

export interface OperatorUnitOfWork {
  /** One transaction: all of the work or none. Nothing but the changes may be awaited inside. */
  run<T>(actor: Actor, work: (changes: OperatorChanges) => Promise<T>, origin?: WriteOrigin): Promise<T>;
  /** What is committed, without a transaction. */
  readonly rows: OperatorRows;
}
