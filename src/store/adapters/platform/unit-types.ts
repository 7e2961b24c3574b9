import type { ClientId, UnitTypeId } from '../../../../generated/ids.js';
import type { UnitType, UnitTypeRows } from '../../../domain/platform/unit-types.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { behind } from '../keyset.js';

export function unitTypeRows(writer: Writer): UnitTypeRows {
  return {
    find: async (id) => {
      const row = await writer.selectFrom('unit_types').where('id', '=', id).selectAll().executeTakeFirst();
      return row && toUnitType(row);
    },
    findByName: async (clientId, name) => {
      const row = await writer
        .selectFrom('unit_types')
        .where('client_id', '=', clientId)
        .where('name', '=', name)
        .selectAll()
        .executeTakeFirst();
      return row && toUnitType(row);
    },
    page: async (page, clientId) => {
      const rows = await writer
        .selectFrom('unit_types')
        .where('client_id', '=', clientId)
        .where(behind('unit_types', page))
        .orderBy('created_at')
        .orderBy('id')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toUnitType);
    },
    insert: async (unitType) => {
      await writer.insertInto('unit_types').values(toRow(unitType)).execute();
    },
    update: async (unitType) => {
      await writer.updateTable('unit_types').set(toRow(unitType)).where('id', '=', unitType.id).execute();
    },
    delete: async (id) => {
      await writer.deleteFrom('unit_types').where('id', '=', id).execute();
    },
    hasUnits: async (id) => {
      const unit = await writer
        .selectFrom('units')
        .where('unit_type_id', '=', id)
        .select('id')
        .limit(1)
        .executeTakeFirst();
      return unit !== undefined;
    },
  };
}

function toUnitType(row: Schema['unit_types']): UnitType {
  return {
    id: row.id as UnitTypeId,
    clientId: row.client_id as ClientId,
    name: row.name,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(unitType: UnitType): Schema['unit_types'] {
  return {
    id: unitType.id,
    client_id: unitType.clientId,
    name: unitType.name,
    version: unitType.version,
    created_at: unitType.createdAt,
    updated_at: unitType.updatedAt,
  };
}
