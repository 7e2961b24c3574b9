import type { ClientId, UnitId, UnitTypeId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { PageRequest } from '../directory/page.js';
import { newVersion } from '../version.js';
import { assertExpectedVersion, changesAnything, updatedFields } from './changes.js';
import { type Client, lockClient } from './clients.js';
import type { Changes } from './unit-of-work.js';
import {
  assertParent,
  insertUnits,
  type NewUnit,
  plantedUnits,
  validateNewUnits,
  validateUnitFields,
} from './unit-trees.js';
import { lockUnitType } from './unit-types.js';
import { Violations } from './violations.js';
import { clearUnit } from './worker-detachment.js';

/** One unit of a layer. */
export interface Unit {
  id: UnitId;
  clientId: ClientId;
  unitTypeId: UnitTypeId;
  name: string;
  unitCode: string | null;
  description: string | null;
  parentUnitId: UnitId | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface UnitFilter {
  unitTypeId?: string;
  parentUnitId?: string;
}

export interface UnitRows {
  find(id: string): Promise<Unit | undefined>;
  /** Those of the ids that are units of the client, in any order. */
  findAll(clientId: ClientId, ids: readonly string[]): Promise<Unit[]>;
  page(page: PageRequest, clientId: ClientId, filter: UnitFilter): Promise<Unit[]>;
  insert(unit: Unit): Promise<void>;
  update(unit: Unit): Promise<void>;
  delete(id: UnitId): Promise<void>;
}

export interface UnitCreation extends NewUnit {
  unitTypeId: string;
  parentUnitId?: string;
}

/** With the units below it, parents before children; each has its event. */
export async function createUnit(
  changes: Changes,
  creation: UnitCreation,
): Promise<{ unit: Unit; subUnits: Unit[] }> {
  const violations = new Violations();
  validateUnitFields(violations, '', creation);
  validateNewUnits(violations, 'sub_units', creation.subUnits);
  violations.throwIfAny();
  const { client, unitType } = await lockUnitType(changes, creation.unitTypeId);
  const parent = await assertParent(changes, client.id, creation.parentUnitId);
  const planted = plantedUnits(unitType, [creation], parent, changes.now);
  await insertUnits(changes, client, unitType, planted);
  await changes.touch(client.id);
  const [unit, ...subUnits] = planted.map((one) => one.unit);
  return { unit: unit as Unit, subUnits };
}

export async function getUnit(changes: Pick<Changes, 'units'>, id: string): Promise<Unit> {
  const unit = await changes.units.find(id);
  if (!unit) {
    throw new ServiceError(ErrorCode.UNIT_NOT_FOUND, 'There is no such unit.');
  }
  return unit;
}

export interface UnitUpdate {
  unitId: string;
  name?: string;
  unitCode?: string;
  description?: string;
  parentUnitId?: string;
  updateMask?: readonly string[];
  expectedVersion?: string;
}

export async function updateUnit(changes: Changes, update: UnitUpdate): Promise<Unit> {
  const fields = updatedFields(
    {
      name: update.name?.trim(),
      unitCode: update.unitCode?.trim(),
      description: update.description?.trim(),
      parentUnitId: update.parentUnitId,
    },
    update.updateMask,
    ['unitCode', 'description', 'parentUnitId'],
  );
  const violations = new Violations();
  validateUnitFields(violations, '', fields);
  violations.throwIfAny();
  const { client, unit: present } = await lockUnit(changes, update.unitId);
  assertExpectedVersion(present, update.expectedVersion);
  if (!changesAnything<Unit>(present, fields)) {
    return present;
  }
  const parent = await assertParent(changes, client.id, fields.parentUnitId);
  await refuseCycle(changes, present, parent?.id ?? null);
  const changed = {
    ...present,
    ...(fields as Partial<Unit>),
    version: newVersion(),
    updatedAt: changes.now,
  };
  await changes.units.update(changed);
  await changes.touch(client.id);
  return changed;
}

/** Workers who were offboarded do not stand in the way: they lose the unit. */
export async function deleteUnit(
  changes: Changes,
  { unitId, expectedVersion }: { unitId: string; expectedVersion?: string },
): Promise<void> {
  const { client, unit } = await lockUnit(changes, unitId);
  assertExpectedVersion(unit, expectedVersion);
  const first = { after: undefined, limit: 1 };
  const subUnits = await changes.units.page(first, client.id, { parentUnitId: unit.id });
  const workers = await changes.workers.page(first, client.id, { unitId: unit.id, statuses: ['ACTIVE'] });
  const users = [
    ...(subUnits.length > 0 ? ['units below it'] : []),
    ...(workers.length > 0 ? ['workers'] : []),
  ];
  if (users.length > 0) {
    const message = `The unit still has ${users.join(' and ')}. Move or delete them first.`;
    throw new ServiceError(ErrorCode.RESOURCE_IN_USE, message);
  }
  await clearUnit(changes, client, unit.id);
  await changes.units.delete(unit.id);
  await changes.touch(client.id);
}

/** The client of a unit never changes, so that it tells what to lock; everything else is read behind the lock. */
async function lockUnit(changes: Changes, id: string): Promise<{ client: Client; unit: Unit }> {
  const { clientId } = await getUnit(changes, id);
  const client = await lockClient(changes, clientId);
  return { client, unit: await getUnit(changes, id) };
}

/** Walks up from the new parent; nothing moves meanwhile, because the client is locked. */
async function refuseCycle(changes: Changes, unit: Unit, parentUnitId: UnitId | null): Promise<void> {
  for (let above = parentUnitId; above !== null; ) {
    if (above === unit.id) {
      const violations = new Violations();
      violations.add('parent_unit_id', 'must not be the unit itself or one below it');
      violations.throwIfAny();
    }
    above = (await getUnit(changes, above)).parentUnitId;
  }
}
