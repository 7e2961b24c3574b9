import { ErrorCode } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { getterOf } from '../../unit-of-work.js';
import { madeAt } from '../../version.js';
import { assertExpectedVersion, trimmed, type Update, updatedFields, writeChanged } from '../changes.js';
import type { Instance } from '../rows/organization.js';
import type { Changes } from '../unit-of-work.js';
import { Violations } from '../violations.js';

type Ports = Pick<Changes, 'instances' | 'lock' | 'now' | 'touch'>;

export async function createInstance(
  changes: Pick<Changes, 'instances' | 'now' | 'touch'>,
  { name }: { name: string },
): Promise<Instance> {
  validate({ name });
  const instance: Instance = {
    id: newPublicId('InstanceId'),
    name: name.trim(),
    ...madeAt(changes.now),
  };
  await changes.instances.insert(instance);
  await changes.touch(instance.id);
  return instance;
}

export const getInstance = getterOf('instances', ErrorCode.INSTANCE_NOT_FOUND, 'instance');

interface InstanceUpdate extends Update {
  instanceId: string;
  name?: string;
}

export async function updateInstance(changes: Ports, update: InstanceUpdate): Promise<Instance> {
  const fields = updatedFields(trimmed(update, 'name'), ['name']);
  validate(fields);
  await changes.lock(update.instanceId);
  const present = await getInstance(changes, update.instanceId);
  assertExpectedVersion(present, update.expectedVersion);
  return writeChanged(present, fields, changes.now, async (changed) => {
    await changes.instances.update(changed);
    await changes.touch(present.id, ...(await changes.instances.integrationsOf(present.id)));
  });
}

function validate({ name }: { name?: string }): void {
  const violations = new Violations();
  violations.givenText('name', name);
  violations.throwIfAny();
}
