import { ErrorCode, existing } from '../../errors/service-error.js';
import { newPublicId } from '../../identifiers/public-id.js';
import { assertExpectedVersion, changedFields, changesAnything, updatedFields } from '../platform/changes.js';
import { MAX_NAME_LENGTH, Violations } from '../platform/violations.js';
import { newVersion } from '../version.js';
import type { Integration } from './rows/integrations.js';
import type { OperatorChanges, OperatorRows } from './unit-of-work.js';

/** What these rules use of a write. */
type Ports = Pick<OperatorChanges, 'actor' | 'audit' | 'integrations' | 'lock' | 'now' | 'touch'>;

export async function createIntegration(
  changes: Ports,
  { name, contactEmail }: { name: string; contactEmail?: string | undefined },
): Promise<Integration> {
  validate({ name, contactEmail });
  const integration: Integration = {
    id: newPublicId('IntegrationId'),
    name: name.trim(),
    contactEmail: contactEmail?.trim() || null,
    version: newVersion(),
    createdAt: changes.now,
    updatedAt: changes.now,
  };
  await changes.integrations.insert(integration);
  await changes.touch(integration.id);
  await changes.audit(changes.actor, {
    type: 'integration.created',
    subject: { type: 'integration', id: integration.id },
  });
  return integration;
}

export async function getIntegration(
  rows: Pick<OperatorRows, 'integrations'>,
  id: string,
): Promise<Integration> {
  return existing(await rows.integrations.find(id), ErrorCode.INTEGRATION_NOT_FOUND, 'integration');
}

export interface IntegrationUpdate {
  integrationId: string;
  name?: string;
  contactEmail?: string;
  updateMask?: readonly string[];
  expectedVersion?: string;
}

export async function updateIntegration(changes: Ports, update: IntegrationUpdate): Promise<Integration> {
  const fields = updatedFields(
    { name: update.name?.trim(), contactEmail: update.contactEmail?.trim() || undefined },
    update.updateMask,
    ['contactEmail'],
  );
  validate(fields);
  await changes.lock(update.integrationId);
  const present = await getIntegration(changes, update.integrationId);
  assertExpectedVersion(present, update.expectedVersion);
  if (!changesAnything<Integration>(present, fields)) {
    return present;
  }
  const changed = {
    ...present,
    ...(fields as Partial<Integration>),
    version: newVersion(),
    updatedAt: changes.now,
  };
  await changes.integrations.update(changed);
  await changes.touch(present.id);
  const subject = { type: 'integration', id: present.id };
  const attributes = changedFields(present, changed);
  await changes.audit(changes.actor, { type: 'integration.updated', subject, attributes });
  return changed;
}

function validate({
  name,
  contactEmail,
}: {
  name?: string | null | undefined;
  contactEmail?: string | null | undefined;
}): void {
  const violations = new Violations();
  if (name !== undefined) {
    violations.requiredText('name', name ?? undefined, MAX_NAME_LENGTH);
  }
  if (contactEmail) {
    violations.email('contact_email', contactEmail);
  }
  violations.throwIfAny();
}
