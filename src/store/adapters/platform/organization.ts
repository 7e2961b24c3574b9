import type { ClientId } from '../../../../generated/ids.js';
import type {
  Client,
  ClientRows,
  Instance,
  InstanceRows,
  JobTitleRows,
  Location,
  LocationRows,
  Unit,
  UnitRows,
  UnitType,
  UnitTypeRows,
} from '../../../domain/platform/rows/organization.js';
import { camelCased, type Rows, type Tables, type Writer } from '../../database.js';
import { withAddress } from '../directory-columns.js';
import { changedRows, counted, findsAny, statement } from '../statements/kept-statement.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';
import { isBelow } from './hierarchy.js';

const instances = (db: Rows) => db.selectFrom('instances').selectAll().$narrowType<Pick<Instance, 'id'>>();

const instanceById = statement((db, { id }: { id: string }) => instances(db).where('id', '=', id));

export function instanceRows(writer: Writer): InstanceRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'instances');
  return {
    find: async (id) => (await instanceById(db, { id })).rows[0],
    page: (page) => oldestFirst(instances(db), 'instances', page),
    insert,
    update,
    integrationsOf: async (id) => {
      const rows = await db
        .selectFrom('instanceIntegrations')
        .where('instanceId', '=', id)
        .select('integrationId')
        .orderBy('integrationId')
        .execute();
      return rows.map((row) => row.integrationId);
    },
  };
}

const clientById = statement((db, { id }: { id: string }) => clients(db).where('id', '=', id));

export function clientRows(writer: Writer): ClientRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'clients');
  return {
    find: async (id) => {
      const row = (await clientById(db, { id })).rows[0];
      return row && withAddress(row);
    },
    page: async (page, instanceId) => {
      const found = clients(db).where(({ and }) => and({ instanceId }));
      return (await oldestFirst(found, 'clients', page)).map(withAddress);
    },
    insert: ({ address, ...client }) => insert({ ...client, ...address }),
    update: ({ address, ...client }) => update({ ...client, ...address }),
  };
}

function clients(db: Rows) {
  return db.selectFrom('clients').selectAll().$narrowType<Pick<Client, 'id' | 'instanceId'>>();
}

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
    hasUnits: (id) => findsAny(db.selectFrom('units').where('unitTypeId', '=', id).select('id')),
  };
}

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
    isBelow: isBelow(db, 'units', 'parentId'),
    count: countOfClient(db, 'units'),
    insert: (unit) => writes.insert(toUnitRow(unit)),
    update: (unit) => writes.update(toUnitRow(unit)),
    delete: writes.delete,
  };
}

function toUnitRow({ parentUnitId, ...unit }: Unit): Tables['units'] {
  return { ...unit, parentId: parentUnitId };
}

export function locationRows(writer: Writer): LocationRows {
  const db = camelCased(writer);
  const writes = plainWrites(db, 'locations');
  const locations = () =>
    db.selectFrom('locations').selectAll().$narrowType<Pick<Location, 'id' | 'clientId'>>();
  const first = async (found: ReturnType<typeof locations>) => {
    const row = await found.executeTakeFirst();
    return row && withAddress(row);
  };
  return {
    find: (id) => first(locations().where('id', '=', id)),
    findByName: (clientId, name) =>
      first(locations().where('clientId', '=', clientId).where('name', '=', name)),
    page: async (page, clientId) => {
      const found = locations().where('clientId', '=', clientId);
      return (await oldestFirst(found, 'locations', page)).map(withAddress);
    },
    count: countOfClient(db, 'locations'),
    insert: ({ address, ...location }) => writes.insert({ ...location, ...address }),
    update: ({ address, ...location }) => writes.update({ ...location, ...address }),
    delete: writes.delete,
  };
}

export function jobTitleRows(writer: Writer): JobTitleRows {
  const db = camelCased(writer);
  return {
    has: (clientId, title) =>
      findsAny(
        db
          .selectFrom('jobTitles')
          .where('clientId', '=', clientId)
          .where('title', '=', title)
          .select('title'),
      ),
    page: async (clientId, after, limit) => {
      const rows = await db
        .selectFrom('jobTitles')
        .where('clientId', '=', clientId)
        .$if(after !== undefined, (query) => query.where('title', '>', after as string))
        .orderBy('title')
        .limit(limit)
        .select('title')
        .execute();
      return rows.map(({ title }) => title);
    },
    add: async (clientId, titles) => {
      let added = 0;
      for (const title of titles) {
        const insertion = db
          .insertInto('jobTitles')
          .values({ clientId, title })
          .onConflict((conflict) => conflict.columns(['clientId', 'title']).doNothing());
        added += changedRows(await db.executeQuery(insertion));
      }
      return added;
    },
    count: countOfClient(db, 'jobTitles'),
    remove: async (clientId, title) => {
      await db.deleteFrom('jobTitles').where('clientId', '=', clientId).where('title', '=', title).execute();
    },
  };
}

/** Counts the rows that a client has in a table. */
export function countOfClient(db: Rows, table: 'jobTitles' | 'locations' | 'roles' | 'units' | 'unitTypes') {
  return (clientId: ClientId) => counted(db.selectFrom(table).where('clientId', '=', clientId));
}
