import { ErrorCode, existing } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { newVersion } from '../../version.js';
import { assertExpectedVersion, changesAnything, updatedFields } from '../changes.js';
import type { Instance } from '../rows/instances.js';
import type { Changes } from '../unit-of-work.js';
import { MAX_NAME_LENGTH, Violations } from '../violations.js';

/** What these rules use of a write. */
type Ports = Pick<Changes, 'instances' | 'lock' | 'now' | 'touch'>;

export async function createInstance(
  changes: Pick<Changes, 'instances' | 'now' | 'touch'>,
  { name }: { name: string },
): Promise<Instance> {
  validate({ name });
  const instance: Instance = {
    id: newPublicId('InstanceId'),
    name: name.trim(),
    version: newVersion(),
    createdAt: changes.now,
    updatedAt: changes.now,
  };
  await changes.instances.insert(instance);
  await changes.touch(instance.id);
  return instance;
}

export async function getInstance(changes: Pick<Changes, 'instances'>, id: string): Promise<Instance> {
  return existing(await changes.instances.find(id), ErrorCode.INSTANCE_NOT_FOUND, 'instance');
}

export interface InstanceUpdate {
  instanceId: string;
  name?: string;
  updateMask?: readonly string[];
  expectedVersion?: string;
}

export async function updateInstance(changes: Ports, update: InstanceUpdate): Promise<Instance> {
  const fields = updatedFields({ name: update.name?.trim() }, update.updateMask, []);
  validate(fields);
  await changes.lock(update.instanceId);
  const present = await getInstance(changes, update.instanceId);
  assertExpectedVersion(present, update.expectedVersion);
  if (!changesAnything<Instance>(present, fields)) {
    return present;
  }
  const changed = {
    ...present,
    ...(fields as Partial<Instance>),
    version: newVersion(),
    updatedAt: changes.now,
  };
  await changes.instances.update(changed);
  await changes.touch(present.id, ...(await changes.instances.integrationsOf(present.id)));
  return changed;
}

function validate({ name }: { name?: string | null }): void {
  const violations = new Violations();
  if (name !== undefined) {
    violations.requiredText('name', name ?? undefined, MAX_NAME_LENGTH);
  }
  violations.throwIfAny();
}
