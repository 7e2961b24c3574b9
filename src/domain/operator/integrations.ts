import { ErrorCode, fieldRefusal } from '../../errors/service-error.js';
import { newPublicId } from '../../identifiers/public-id.js';
import {
  assertExpectedVersion,
  changedFields,
  trimmed,
  type Update,
  updatedFields,
  writeChanged,
} from '../platform/changes.js';
import type { Instance } from '../platform/rows/organization.js';
import { Violations } from '../platform/violations.js';
import { auditChange, getterOf } from '../unit-of-work.js';
import { madeAt } from '../version.js';
import type { Integration } from './rows/integrations.js';
import type { OperatorChanges, OperatorRows } from './unit-of-work.js';

type Ports = Pick<OperatorChanges, 'actor' | 'audit' | 'integrations' | 'lock' | 'now' | 'touch'>;

export async function createIntegration(
  changes: Ports,
  { name, contactEmail: givenEmail }: { name: string; contactEmail?: string },
): Promise<Integration> {
  const contactEmail = givenEmail?.trim() || null;
  validate({ name, contactEmail });
  const integration: Integration = {
    id: newPublicId('IntegrationId'),
    name: name.trim(),
    contactEmail,
    ...madeAt(changes.now),
  };
  await changes.integrations.insert(integration);
  await changes.touch(integration.id);
  await auditChange(changes, 'integration.created', integration.id);
  return integration;
}

export const getIntegration = getterOf('integrations', ErrorCode.INTEGRATION_NOT_FOUND, 'integration');

interface IntegrationUpdate extends Update {
  integrationId: string;
  name?: string;
  contactEmail?: string;
}

export async function updateIntegration(changes: Ports, update: IntegrationUpdate): Promise<Integration> {
  const given = trimmed(update, 'name', 'contactEmail');
  const contactEmail = given.contactEmail || undefined;
  const fields = updatedFields({ ...given, contactEmail }, ['name'], ['contactEmail']);
  validate(fields);
  await changes.lock(update.integrationId);
  const present = await getIntegration(changes, update.integrationId);
  assertExpectedVersion(present, update.expectedVersion);
  return writeChanged(present, fields, changes.now, async (changed) => {
    await changes.integrations.update(changed);
    await changes.touch(present.id);
    await auditChange(changes, 'integration.updated', present.id, changedFields(present, changed));
  });
}

function validate({ name, contactEmail }: { name?: string; contactEmail?: string | null }): void {
  const violations = new Violations();
  violations.givenText('name', name);
  if (contactEmail) {
    violations.email('contact_email', contactEmail);
  }
  violations.throwIfAny();
}

/** The instance that a field of the request names. */
export async function requireInstance(
  rows: Pick<OperatorRows, 'instances'>,
  id: string,
  path: string,
): Promise<Instance> {
  const instance = await rows.instances.find(id);
  if (!instance) {
    const message = 'There is no such instance.';
    throw fieldRefusal(ErrorCode.INSTANCE_NOT_FOUND, message, path, 'is not the id of an instance');
  }
  return instance;
}
