import type { ClientId, UnitId, UnitTypeId } from '../../../../generated/ids.js';
import type { Unit, UnitRows } from '../../../domain/platform/units.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { behind } from '../keyset.js';

export function unitRows(writer: Writer): UnitRows {
  return {
    find: async (id) => {
      const row = await writer.selectFrom('units').where('id', '=', id).selectAll().executeTakeFirst();
      return row && toUnit(row);
    },
    findAll: async (clientId, ids) => {
      if (ids.length === 0) {
        return [];
      }
      const rows = await writer
        .selectFrom('units')
        .where('client_id', '=', clientId)
        .where('id', 'in', [...ids])
        .selectAll()
        .execute();
      return rows.map(toUnit);
    },
    page: async (page, clientId, { unitTypeId, parentUnitId }) => {
      const rows = await writer
        .selectFrom('units')
        .where('client_id', '=', clientId)
        .$if(unitTypeId !== undefined, (query) => query.where('unit_type_id', '=', unitTypeId as string))
        .$if(parentUnitId !== undefined, (query) => query.where('parent_id', '=', parentUnitId as string))
        .where(behind('units', page))
        .orderBy('created_at')
        .orderBy('id')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toUnit);
    },
    insert: async (unit) => {
      await writer.insertInto('units').values(toRow(unit)).execute();
    },
    update: async (unit) => {
      await writer.updateTable('units').set(toRow(unit)).where('id', '=', unit.id).execute();
    },
    delete: async (id) => {
      await writer.deleteFrom('units').where('id', '=', id).execute();
    },
  };
}

function toUnit(row: Schema['units']): Unit {
  return {
    id: row.id as UnitId,
    clientId: row.client_id as ClientId,
    unitTypeId: row.unit_type_id as UnitTypeId,
    name: row.name,
    unitCode: row.unit_code,
    description: row.description,
    parentUnitId: row.parent_id as UnitId | null,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(unit: Unit): Schema['units'] {
  return {
    id: unit.id,
    client_id: unit.clientId,
    unit_type_id: unit.unitTypeId,
    parent_id: unit.parentUnitId,
    name: unit.name,
    unit_code: unit.unitCode,
    description: unit.description,
    version: unit.version,
    created_at: unit.createdAt,
    updated_at: unit.updatedAt,
  };
}
