import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { getterOf } from '../../unit-of-work.js';
import { trimmed, type Update, updatedFields, writeChanged } from '../changes.js';
import { isFoundAbove } from '../instance-limit.js';
import { rewriteWorkers, workersToRewrite } from '../people/workers.js';
import type { Unit } from '../rows/organization.js';
import type { Changes } from '../unit-of-work.js';
import { invalidRequest, Violations } from '../violations.js';
import { assertRoom, lockWithClient } from './clients.js';
import {
  assertParent,
  insertUnits,
  type NewUnit,
  unitRows,
  validateNewUnits,
  validateUnitFields,
} from './unit-trees.js';
import { getUnitType } from './unit-types.js';

type Ports = Pick<
  Changes,
  'clients' | 'instanceId' | 'lock' | 'now' | 'recordEvent' | 'touch' | 'unitTypes' | 'units' | 'workers'
>;

interface UnitCreation extends NewUnit {
  unitTypeId: string;
  parentUnitId?: string;
}

/** With the units below it, parents first; each has its event. */
export async function createUnit(
  changes: Ports,
  creation: UnitCreation,
): Promise<{ unit: Unit; subUnits: Unit[] }> {
  const violations = new Violations();
  violations.requiredId('unit_type_id', creation.unitTypeId);
  validateUnitFields(violations, '', creation);
  validateNewUnits(violations, 'sub_units', creation.subUnits);
  violations.throwIfAny();
  const [client, unitType] = await lockWithClient(changes, getUnitType, creation.unitTypeId);
  const parent = await assertParent(changes, client.id, creation.parentUnitId);
  const rows = unitRows(unitType, [creation], parent, changes.now);
  await assertRoom(changes.units, client.id, 'units', rows.length);
  await insertUnits(changes, client, unitType, rows);
  await changes.touch(client.id);
  const [unit, ...subUnits] = rows.map((row) => row.unit);
  return { unit: unit as Unit, subUnits };
}

export const getUnit = getterOf('units', ErrorCode.UNIT_NOT_FOUND, 'unit');

interface UnitUpdate extends Update, Partial<Omit<UnitCreation, 'unitTypeId' | 'subUnits'>> {
  unitId: string;
}

/** Its workers show its name: they change with it, including offboarded ones. */
export async function updateUnit(changes: Ports, update: UnitUpdate): Promise<Unit> {
  const given = trimmed(update, 'name', 'unitCode', 'description');
  const fields = updatedFields(given, ['name'], ['unitCode', 'description', 'parentUnitId']);
  const violations = new Violations();
  violations.requiredId('unit_id', update.unitId);
  validateUnitFields(violations, '', fields);
  violations.throwIfAny();
  const [client, present] = await lockWithClient(changes, getUnit, update.unitId, update);
  return writeChanged(present, fields as Partial<Unit>, changes.now, async (changed) => {
    const parent = await assertParent(changes, client.id, fields.parentUnitId);
    // The client is locked, so no unit moves meanwhile. The present parent comes back from forms.
    if (parent && parent.id !== present.parentUnitId) {
      const isBelow = (limit?: number) => changes.units.isBelow(parent.id, present.id, limit);
      if (await isFoundAbove(changes, 'units', isBelow)) {
        throw invalidRequest('parent_unit_id', 'must not be the unit itself or one below it');
      }
    }
    const isRenamed = changed.name !== present.name;
    const workerIds = isRenamed ? await workersToRewrite(changes, client.id, { unitId: changed.id }) : [];
    await changes.units.update(changed);
    await rewriteWorkers(changes, client, workerIds, () => ({}));
    await changes.touch(client.id);
  });
}

/** Offboarded workers do not prevent it: they lose the unit, and their next one becomes the primary one. */
export async function deleteUnit(
  changes: Ports,
  { unitId, expectedVersion }: { unitId: string; expectedVersion?: string },
): Promise<void> {
  const [client, unit] = await lockWithClient(changes, getUnit, unitId, { expectedVersion });
  const first = { after: undefined, limit: 1 };
  const subUnits = await changes.units.page(first, client.id, { parentUnitId: unit.id });
  const workers = await changes.workers.countUpTo(1, client.id, { unitId: unit.id, statuses: ['ACTIVE'] });
  const users = [...(subUnits.length > 0 ? ['units below it'] : []), ...(workers > 0 ? ['workers'] : [])];
  if (users.length > 0) {
    const message = `The unit still has ${users.join(' and ')}. Move or delete them first.`;
    throw new ServiceError(ErrorCode.RESOURCE_IN_USE, message);
  }
  const workerIds = await workersToRewrite(changes, client.id, { unitId: unit.id });
  await rewriteWorkers(changes, client, workerIds, ({ units, primaryUnit }) => {
    const left = units.filter(({ id }) => id !== unit.id);
    return { units: left, primaryUnit: primaryUnit?.id === unit.id ? (left[0] ?? null) : primaryUnit };
  });
  await changes.workers.unassign(unit.id);
  await changes.units.delete(unit.id);
  await changes.touch(client.id);
}
