import type { Unit, UnitRows } from '../../../domain/platform/rows/organization.js';
import { camelCased, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { countOfClient } from '../statements/count-of-client.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

export function unitRows(writer: Writer): UnitRows {
  const db = camelCased(writer);
  const writes = plainWrites(db, 'units');
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
      oldestFirst(
        units().where(({ and }) => and({ clientId, unitTypeId, parentId: parentUnitId })),
        'units',
        page,
      ),
    count: countOfClient(db, 'units'),
    insert: (unit) => writes.insert(toRow(unit)),
    update: (unit) => writes.update(toRow(unit)),
    delete: writes.delete,
  };
}

function toRow({ parentUnitId, ...unit }: Unit): Tables['units'] {
  return { ...unit, parentId: parentUnitId };
}
