import type { UnitType, UnitTypeRows } from '../../../domain/platform/rows/organization.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { countOfClient } from '../statements/count-of-client.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

export function unitTypeRows(writer: Writer): UnitTypeRows {
  const db = camelCased(writer);
  const unitTypes = () =>
    db.selectFrom('unitTypes').selectAll().$narrowType<Pick<UnitType, 'id' | 'clientId'>>();
  return {
    find: (id) => unitTypes().where('id', '=', id).executeTakeFirst(),
    findByName: (clientId, name) =>
      unitTypes().where('clientId', '=', clientId).where('name', '=', name).executeTakeFirst(),
    page: (page, clientId) => oldestFirst(unitTypes().where('clientId', '=', clientId), 'unit_types', page),
    count: countOfClient(db, 'unitTypes'),
    ...plainWrites(db, 'unitTypes'),
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
