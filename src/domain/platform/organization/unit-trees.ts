import type { EmbeddedUnit, NamedUnit } from '../../../../generated/asyncapi/events.js';
import type { ClientId } from '../../../../generated/ids.js';
import { ErrorCode, fieldRefusal } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { madeAt } from '../../version.js';
import type { Client, Unit, UnitType } from '../rows/organization.js';
import { type Changes, eventOn, linkToOrganizationStructure } from '../unit-of-work.js';
import { MAX_TEXT_LENGTH, type Violations } from '../violations.js';

/** Limits of one request, without the unit that CreateUnit names itself: levels of units, and units. */
const MAX_DEPTH = 8;
const MAX_UNITS = 1_000;

/** The given fields of a unit; null means named without a value. */
interface UnitFields {
  name?: string;
  unitCode?: string | null;
  description?: string | null;
}

/** A unit to create, with those below it. */
export interface NewUnit extends UnitFields {
  name: string;
  unitCode?: string;
  description?: string;
  subUnits: readonly NewUnit[];
}

/** A unit to insert, with the facts about its parent for the event. */
interface UnitWithParent {
  unit: Unit;
  parent: NamedUnit | null;
}

/** Validates the fields that are present. */
export function validateUnitFields(violations: Violations, prefix: string, fields: UnitFields): void {
  violations.givenText(`${prefix}name`, fields.name);
  violations.givenText(`${prefix}unit_code`, fields.unitCode);
  violations.givenText(`${prefix}description`, fields.description, MAX_TEXT_LENGTH);
}

/** Validates a list of units and all below them; `depth` is the level of the list. */
export function validateNewUnits(
  violations: Violations,
  path: string,
  units: readonly NewUnit[],
  depth = 1,
): void {
  if (depth === 1 && countOf(units) > MAX_UNITS) {
    violations.add(path, `must not have more than ${MAX_UNITS} units`);
    return;
  }
  if (units.length > 0 && depth > MAX_DEPTH) {
    violations.add(path, `must not be more than ${MAX_DEPTH} levels deep`);
    return;
  }
  for (const [index, unit] of units.entries()) {
    const prefix = `${path}[${index}].`;
    validateUnitFields(violations, prefix, unit);
    validateNewUnits(violations, `${prefix}sub_units`, unit.subUnits, depth + 1);
  }
}

/** The rows of units and all below them, parents first. */
export function unitRows(
  unitType: Pick<UnitType, 'id' | 'clientId'>,
  units: readonly NewUnit[],
  parent: NamedUnit | null,
  now: number,
): UnitWithParent[] {
  return units.flatMap((given) => {
    const unit: Unit = {
      id: newPublicId('UnitId'),
      clientId: unitType.clientId,
      unitTypeId: unitType.id,
      name: given.name.trim(),
      unitCode: given.unitCode?.trim() ?? null,
      description: given.description?.trim() ?? null,
      parentUnitId: parent?.id ?? null,
      ...madeAt(now),
    };
    const { id, name } = unit;
    return [{ unit, parent }, ...unitRows(unitType, given.subUnits, { id, name }, now)];
  });
}

/** Inserts the rows with an event per unit. The caller locks the client, asserts room and touches it. */
export async function insertUnits(
  changes: Pick<Changes, 'recordEvent' | 'units'>,
  client: Client,
  { id, name }: UnitType,
  rows: readonly UnitWithParent[],
): Promise<void> {
  for (const { unit } of rows) {
    await changes.units.insert(unit);
  }
  await changes.recordEvent(
    ...rows.map(({ unit, parent }) =>
      eventOn(client.instanceId, 'organization_unit.created', {
        ...embeddedUnit({ unit, parent }),
        clientId: client.id,
        unitType: { id, name },
        createdAt: new Date(unit.createdAt).toISOString(),
        links: { self: linkToOrganizationStructure(client.id) },
      }),
    ),
  );
}

export function embeddedUnit({ unit, parent }: UnitWithParent): EmbeddedUnit {
  return {
    organizationUnitId: unit.id,
    name: unit.name,
    unitCode: unit.unitCode,
    description: unit.description,
    parentUnit: parent,
  };
}

/** The parent for other units; null for the top level. */
export async function assertParent(
  changes: Pick<Changes, 'units'>,
  clientId: ClientId,
  parentUnitId: string | null | undefined,
): Promise<NamedUnit | null> {
  if (parentUnitId === undefined || parentUnitId === null) {
    return null;
  }
  const parent = await changes.units.find(parentUnitId);
  if (parent?.clientId !== clientId) {
    const message = 'The client has no such unit.';
    throw fieldRefusal(ErrorCode.UNIT_NOT_FOUND, message, 'parent_unit_id', 'is no unit of the client');
  }
  return { id: parent.id, name: parent.name };
}

function countOf(units: readonly NewUnit[]): number {
  return units.reduce((count, { subUnits }) => count + 1 + countOf(subUnits), 0);
}
