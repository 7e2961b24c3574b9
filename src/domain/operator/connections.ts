import type { InstanceId, InstanceIntegrationId, IntegrationId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newPublicId } from '../../identifiers/public-id.js';
import type { PageRequest } from '../directory/page.js';
import { assertExpectedVersion } from '../platform/changes.js';
import { newVersion } from '../version.js';
import {
  deleteSubscriptionsOf,
  disableSubscriptionsOf,
  enableSubscriptionsOf,
} from '../webhooks/subscription-connection.js';
import { requireInstance } from './instances.js';
import { getIntegration } from './integrations.js';
import type { OperatorChanges, OperatorRows } from './unit-of-work.js';

/** An instance integration: the connection between an integration and one instance. */
export interface Connection {
  id: InstanceIntegrationId;
  integrationId: IntegrationId;
  instanceId: InstanceId;
  instanceName: string;
  /** Null until it is set up; until then it reaches no client. */
  configuredAt: number | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface ConnectionFilter {
  integrationId?: string;
  instanceId?: string;
  configured?: boolean;
}

export interface ConnectionRows {
  find(id: string): Promise<Connection | undefined>;
  findPair(integrationId: string, instanceId: string): Promise<Connection | undefined>;
  /** Newest first. */
  page(page: PageRequest, filter: ConnectionFilter): Promise<Connection[]>;
  insert(connection: Connection): Promise<void>;
  update(connection: Connection): Promise<void>;
  delete(id: InstanceIntegrationId): Promise<void>;
}

export interface ConnectionCreation {
  integrationId: string;
  instanceId: string;
}

export async function connectInstance(
  changes: OperatorChanges,
  { integrationId, instanceId }: ConnectionCreation,
): Promise<Connection> {
  await changes.lock(instanceId, integrationId);
  const integration = await getIntegration(changes, integrationId);
  const instance = await requireInstance(changes, instanceId, 'instance_id');
  const present = await changes.connections.findPair(integrationId, instanceId);
  if (present) {
    const fieldViolations = [{ path: 'instance_id', message: `is connected by ${present.id}` }];
    throw new ServiceError(ErrorCode.ALREADY_EXISTS, 'The two are connected already.', { fieldViolations });
  }
  const connection: Connection = {
    id: newPublicId('InstanceIntegrationId'),
    integrationId: integration.id,
    instanceId: instance.id,
    instanceName: instance.name,
    configuredAt: null,
    version: newVersion(),
    createdAt: changes.now,
    updatedAt: changes.now,
  };
  await changes.connections.insert(connection);
  await finish(changes, 'connected', connection);
  return connection;
}

export async function getConnection(
  rows: Pick<OperatorRows, 'connections'>,
  id: string,
): Promise<Connection> {
  const connection = await rows.connections.find(id);
  if (!connection) {
    throw new ServiceError(
      ErrorCode.INSTANCE_INTEGRATION_NOT_FOUND,
      'There is no such instance integration.',
    );
  }
  return connection;
}

export interface ConnectionConfiguration {
  id: string;
  configured: boolean;
  expectedVersion?: string;
}

/** Sets a connection up, or takes that back; its subscriptions go along. */
export async function configureConnection(
  changes: OperatorChanges,
  { id, configured, expectedVersion }: ConnectionConfiguration,
): Promise<Connection> {
  const present = await lockedConnection(changes, id);
  assertExpectedVersion(present, expectedVersion);
  if (configured === (present.configuredAt !== null)) {
    return present;
  }
  const changed: Connection = {
    ...present,
    configuredAt: configured ? changes.now : null,
    version: newVersion(),
    updatedAt: changes.now,
  };
  await changes.connections.update(changed);
  await finish(changes, configured ? 'configured' : 'unconfigured', changed);
  await (configured ? enableSubscriptionsOf : disableSubscriptionsOf)(changes, changed.id);
  return changed;
}

/** Deletes its subscriptions with it, and answers how many those were. */
export async function disconnectInstance(changes: OperatorChanges, id: string): Promise<number> {
  const present = await lockedConnection(changes, id);
  const subscriptions = await deleteSubscriptionsOf(changes, present.id);
  await changes.connections.delete(present.id);
  await finish(changes, 'disconnected', present);
  return subscriptions;
}

/** Which two to lock is known only from the row, which may change until they are. */
async function lockedConnection(changes: OperatorChanges, id: string): Promise<Connection> {
  const { instanceId, integrationId } = await getConnection(changes, id);
  await changes.lock(instanceId, integrationId);
  return getConnection(changes, id);
}

async function finish(changes: OperatorChanges, what: string, connection: Connection): Promise<void> {
  const { id, integrationId, instanceId } = connection;
  await changes.touch(instanceId, integrationId);
  await changes.record({
    type: `instance_integration.${what}`,
    subject: { type: 'instance_integration', id },
    attributes: { integration_id: integrationId, instance_id: instanceId },
  });
}
