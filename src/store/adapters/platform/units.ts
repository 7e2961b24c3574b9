import type { Unit, UnitRows } from '../../../domain/platform/rows/units.js';
import { camelCased, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { behind } from '../statements/keyset.js';

export function unitRows(writer: Writer): UnitRows {
  const db = camelCased(writer);
  const units = () =>
    db
      .selectFrom('units')
      .select(['id', 'clientId', 'unitTypeId', 'parentId as parentUnitId', 'name', 'unitCode', 'description'])
      .select(['version', 'createdAt', 'updatedAt'])
      .$narrowType<Pick<Unit, 'id' | 'clientId' | 'unitTypeId' | 'parentUnitId'>>();
  return {
    find: (id) => units().where('id', '=', id).executeTakeFirst(),
    findAll: async (clientId, ids) =>
      ids.length === 0
        ? []
        : units()
            .where('clientId', '=', clientId)
            .where('id', 'in', [...ids])
            .execute(),
    page: (page, clientId, { unitTypeId, parentUnitId }) =>
      units()
        .where('clientId', '=', clientId)
        .$if(unitTypeId !== undefined, (query) => query.where('unitTypeId', '=', unitTypeId as string))
        .$if(parentUnitId !== undefined, (query) => query.where('parentId', '=', parentUnitId as string))
        .where(behind('units', page))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(page.limit)
        .execute(),
    insert: async (unit) => {
      await db.insertInto('units').values(toRow(unit)).execute();
    },
    update: async (unit) => {
      await db.updateTable('units').set(toRow(unit)).where('id', '=', unit.id).execute();
    },
    delete: async (id) => {
      await db.deleteFrom('units').where('id', '=', id).execute();
    },
  };
}

function toRow({ parentUnitId, ...unit }: Unit): Tables['units'] {
  return { ...unit, parentId: parentUnitId };
}
