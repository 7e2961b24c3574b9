import type { Clock } from '../../../domain/clock.js';
import type { OperatorRows, OperatorUnitOfWork } from '../../../domain/operator/unit-of-work.js';
import type { Database, Writer } from '../../database.js';
import { instanceRows } from '../platform/instances.js';
import { lock, touch } from '../platform/unit-of-work.js';
import { subscriptionDeliveryRows } from '../webhooks/subscription-deliveries.js';
import { subscriptionRows } from '../webhooks/subscriptions.js';
import { apiKeyRows } from './api-keys.js';
import { applicationRows } from './applications.js';
import { auditRows, recordAction } from './audit-events.js';
import { connectionRows } from './connections.js';
import { encryptionKeyRows } from './encryption-keys.js';
import { integrationRows } from './integrations.js';
import { serviceTokenRows } from './service-tokens.js';

export function operatorUnitOfWork({ reader, write }: Database, clock: Clock = Date.now): OperatorUnitOfWork {
  return {
    rows: rowsOf(reader),
    run: (actor, work, origin) =>
      write(
        (writer) => {
          const now = clock();
          return work({
            ...rowsOf(writer),
            subscriptions: subscriptionRows(writer),
            deliveries: subscriptionDeliveryRows(writer),
            now,
            lock: (...subjectIds) => lock(writer, subjectIds),
            touch: (...subjectIds) => touch(writer, subjectIds),
            record: (action) => recordAction(writer, now, actor, action),
          });
        },
        undefined,
        origin,
      ),
  };
}

function rowsOf(database: Writer): OperatorRows {
  return {
    instances: instanceRows(database),
    integrations: integrationRows(database),
    connections: connectionRows(database),
    apiKeys: apiKeyRows(database),
    serviceTokens: serviceTokenRows(database),
    applications: applicationRows(database),
    auditEvents: auditRows(database),
    encryptionKeys: encryptionKeyRows(database),
  };
}
