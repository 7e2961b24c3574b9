import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { getterOf } from '../../unit-of-work.js';
import { madeAt } from '../../version.js';
import { trimmed, type Update, updatedFields, writeChanged } from '../changes.js';
import type { Unit, UnitType } from '../rows/organization.js';
import { type Changes, eventOn, linkToOrganizationStructure } from '../unit-of-work.js';
import { Violations } from '../violations.js';
import { assertRoom, lockClient, lockWithClient, refuseTakenName } from './clients.js';
import {
  assertParent,
  embeddedUnit,
  insertUnits,
  type NewUnit,
  unitRows,
  validateNewUnits,
} from './unit-trees.js';

type Ports = Pick<Changes, 'clients' | 'lock' | 'now' | 'recordEvent' | 'touch' | 'unitTypes' | 'units'>;

interface UnitTypeCreation {
  clientId: string;
  name: string;
  units: readonly NewUnit[];
  parentUnitId?: string;
}

/** Creates its units too, parents first. The event of the type embeds them; each also has its own. */
export async function createUnitType(
  changes: Ports,
  creation: UnitTypeCreation,
): Promise<{ unitType: UnitType; units: Unit[] }> {
  validate(creation);
  const client = await lockClient(changes, creation.clientId);
  const name = creation.name.trim();
  refuseTakenName('unit type', await changes.unitTypes.findByName(client.id, name));
  const parent = await assertParent(changes, client.id, creation.parentUnitId);
  const unitType: UnitType = {
    id: newPublicId('UnitTypeId'),
    clientId: client.id,
    name,
    ...madeAt(changes.now),
  };
  const rows = unitRows(unitType, creation.units, parent, changes.now);
  await assertRoom(changes.unitTypes, client.id, 'unit types');
  await assertRoom(changes.units, client.id, 'units', rows.length);
  await changes.unitTypes.insert(unitType);
  await changes.touch(client.id);
  await changes.recordEvent(
    eventOn(client.instanceId, 'organization_unit_type.created', {
      organizationUnitTypeId: unitType.id,
      clientId: client.id,
      name,
      units: rows.map(embeddedUnit),
      createdAt: new Date(unitType.createdAt).toISOString(),
      links: { self: linkToOrganizationStructure(client.id) },
    }),
  );
  await insertUnits(changes, client, unitType, rows);
  return { unitType, units: rows.map(({ unit }) => unit) };
}

export const getUnitType = getterOf('unitTypes', ErrorCode.UNIT_TYPE_NOT_FOUND, 'unit type');

interface UnitTypeUpdate extends Update {
  unitTypeId: string;
  name?: string;
}

export async function updateUnitType(changes: Ports, update: UnitTypeUpdate): Promise<UnitType> {
  const fields = updatedFields(trimmed(update, 'name'), ['name']);
  validate(fields);
  const [client, present] = await lockWithClient(changes, getUnitType, update.unitTypeId, update);
  return writeChanged(present, fields, changes.now, async (changed) => {
    refuseTakenName('unit type', await changes.unitTypes.findByName(client.id, changed.name));
    await changes.unitTypes.update(changed);
    await changes.touch(client.id);
  });
}

export async function deleteUnitType(
  changes: Ports,
  { unitTypeId, expectedVersion }: { unitTypeId: string; expectedVersion?: string },
): Promise<void> {
  const [client, unitType] = await lockWithClient(changes, getUnitType, unitTypeId, { expectedVersion });
  if (await changes.unitTypes.hasUnits(unitType.id)) {
    throw new ServiceError(
      ErrorCode.RESOURCE_IN_USE,
      'There are still units of this type. Delete them first.',
    );
  }
  await changes.unitTypes.delete(unitType.id);
  await changes.touch(client.id);
}

function validate({ clientId, name, units }: Partial<UnitTypeCreation>): void {
  const violations = new Violations();
  violations.requiredId('client_id', clientId);
  violations.givenText('name', name);
  validateNewUnits(violations, 'units', units ?? []);
  violations.throwIfAny();
}
