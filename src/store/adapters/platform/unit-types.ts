import type { UnitType, UnitTypeRows } from '../../../domain/platform/rows/unit-types.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { behind } from '../statements/keyset.js';

export function unitTypeRows(writer: Writer): UnitTypeRows {
  const db = camelCased(writer);
  const unitTypes = () =>
    db.selectFrom('unitTypes').selectAll().$narrowType<Pick<UnitType, 'id' | 'clientId'>>();
  return {
    find: (id) => unitTypes().where('id', '=', id).executeTakeFirst(),
    findByName: (clientId, name) =>
      unitTypes().where('clientId', '=', clientId).where('name', '=', name).executeTakeFirst(),
    page: (page, clientId) =>
      unitTypes()
        .where('clientId', '=', clientId)
        .where(behind('unit_types', page))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(page.limit)
        .execute(),
    insert: async (unitType) => {
      await db.insertInto('unitTypes').values(unitType).execute();
    },
    update: async (unitType) => {
      await db.updateTable('unitTypes').set(unitType).where('id', '=', unitType.id).execute();
    },
    delete: async (id) => {
      await db.deleteFrom('unitTypes').where('id', '=', id).execute();
    },
    hasUnits: async (id) => {
      const unit = await db
        .selectFrom('units')
        .where('unitTypeId', '=', id)
        .select('id')
        .limit(1)
        .executeTakeFirst();
      return unit !== undefined;
    },
  };
}
