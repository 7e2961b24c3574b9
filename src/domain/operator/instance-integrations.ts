import { ErrorCode, fieldRefusal, invalidField } from '../../errors/service-error.js';
import { newPublicId } from '../../identifiers/public-id.js';
import { assertExpectedVersion, writeChanged } from '../platform/changes.js';
import { auditChange, getterOf, type UnitOfWork } from '../unit-of-work.js';
import { madeAt } from '../version.js';
import {
  closeRestOf,
  deleteSubscriptionsOf,
  disableSubscriptionsOf,
  enableSubscriptionsOf,
} from '../webhooks/subscriptions/instance-integration.js';
import type { ActOn } from './audit-types.js';
import { getIntegration, requireInstance } from './integrations.js';
import type { InstanceIntegration } from './rows/integrations.js';
import type { OperatorChanges, OperatorRows } from './unit-of-work.js';

type Ports = Pick<
  OperatorChanges,
  'actor' | 'audit' | 'instanceIntegrations' | 'instances' | 'integrations' | 'lock' | 'now' | 'touch'
>;

/** For changes that also enable, disable or delete the subscriptions of the instance integration. */
type FollowedPorts = Pick<
  OperatorChanges,
  'actor' | 'audit' | 'deliveries' | 'instanceIntegrations' | 'lock' | 'now' | 'subscriptions' | 'touch'
>;

export async function connectInstance(
  changes: Ports,
  { integrationId, instanceId }: { integrationId: string; instanceId: string },
): Promise<InstanceIntegration> {
  await changes.lock(instanceId, integrationId);
  const integration = await getIntegration(changes, integrationId);
  const instance = await requireInstance(changes, instanceId, 'instance_id');
  const present = await changes.instanceIntegrations.findPair(integrationId, instanceId);
  if (present) {
    const violation = `is connected by ${present.id}`;
    throw fieldRefusal(ErrorCode.ALREADY_EXISTS, 'The two are connected already.', 'instance_id', violation);
  }
  const instanceIntegration: InstanceIntegration = {
    id: newPublicId('InstanceIntegrationId'),
    integrationId: integration.id,
    instanceId: instance.id,
    instanceName: instance.name,
    configuredAt: null,
    ...madeAt(changes.now),
  };
  await changes.instanceIntegrations.insert(instanceIntegration);
  await finish(changes, 'connected', instanceIntegration);
  return instanceIntegration;
}

export const getInstanceIntegration = getterOf(
  'instanceIntegrations',
  ErrorCode.INSTANCE_INTEGRATION_NOT_FOUND,
  'instance integration',
);

interface InstanceIntegrationConfiguration {
  id: string;
  configured: boolean;
  expectedVersion?: string;
}

/** Sets an instance integration up or undoes that; its subscriptions follow. */
export async function configureInstanceIntegration(
  unitOfWork: UnitOfWork<OperatorChanges, OperatorRows>,
  configuration: Omit<InstanceIntegrationConfiguration, 'configured'> & { configured: boolean | undefined },
): Promise<InstanceIntegration> {
  const { configured } = configuration;
  if (configured === undefined) {
    throw invalidField('The status is invalid.', 'status', 'must be configured or not configured');
  }
  if (configured) {
    await closeRestOf(unitOfWork, configuration.id);
  }
  return unitOfWork.run((changes) => writeConfiguration(changes, { ...configuration, configured }));
}

/** In one short write. */
export async function writeConfiguration(
  changes: FollowedPorts,
  { id, configured, expectedVersion }: InstanceIntegrationConfiguration,
): Promise<InstanceIntegration> {
  const present = await lockedInstanceIntegration(changes, id);
  assertExpectedVersion(present, expectedVersion);
  if (configured === (present.configuredAt !== null)) {
    return present;
  }
  const configuredAt = configured ? changes.now : null;
  return writeChanged(present, { configuredAt }, changes.now, async (changed) => {
    await changes.instanceIntegrations.update(changed);
    await finish(changes, configured ? 'configured' : 'unconfigured', changed);
    await (configured ? enableSubscriptionsOf : disableSubscriptionsOf)(changes, changed.id);
  });
}

/** Deletes its subscriptions too, and returns their number. */
export async function disconnectInstance(changes: FollowedPorts, id: string): Promise<number> {
  const present = await lockedInstanceIntegration(changes, id);
  const subscriptions = await deleteSubscriptionsOf(changes, present.id);
  await changes.instanceIntegrations.delete(present.id);
  await finish(changes, 'disconnected', present);
  return subscriptions;
}

/** The row names what to lock, and may change until the locks are held. */
export async function lockedInstanceIntegration(
  changes: Pick<OperatorChanges, 'instanceIntegrations' | 'lock'>,
  id: string,
): Promise<InstanceIntegration> {
  const { instanceId, integrationId } = await getInstanceIntegration(changes, id);
  await changes.lock(instanceId, integrationId);
  return getInstanceIntegration(changes, id);
}

async function finish(
  changes: Pick<OperatorChanges, 'actor' | 'audit' | 'touch'>,
  what: ActOn<'instance_integration'>,
  instanceIntegration: InstanceIntegration,
): Promise<void> {
  const { id, integrationId, instanceId } = instanceIntegration;
  await changes.touch(instanceId, integrationId);
  const attributes = { integration_id: integrationId, instance_id: instanceId };
  await auditChange(changes, `instance_integration.${what}`, id, attributes);
}
