import type { SelectQueryBuilder } from 'kysely';
import type { LocationId, UnitId, UnitTypeId } from '../../../generated/ids.js';
import {
  type JsonOf,
  jsonArray,
  jsonObject,
  jsonOf,
  type Schemas,
} from '../../domain/directory/contract-json.js';
import type { OrganizationStore } from '../../domain/directory/stores.js';
import { camelCased, type Tables } from '../camel-case.js';
import type { Database } from '../database.js';
import { contractJson } from './statements/contract-json.js';
import { inList } from './statements/dialect.js';
import { keptQuery } from './statements/kept-query.js';

type Owned = 'locations' | 'unitTypes' | 'units';

export function organizationStore({ reader }: Pick<Database, 'reader'>): OrganizationStore {
  const db = camelCased(reader);
  const json = contractJson(db);
  const unitTypes = () =>
    db.selectFrom('unitTypes').select((column) => {
      const [id, name] = [column.ref('id').$castTo<UnitTypeId>(), column.ref('name')];
      return ['id', json.text(json.object<Schemas['UnitType']>({ id, name })).as('json')];
    });
  const locations = () =>
    db.selectFrom('locations').select((column) => {
      const [id, name] = [column.ref('id').$castTo<LocationId>(), column.ref('name')];
      return ['id', json.text(json.object<Schemas['OrganizationLocation']>({ id, name })).as('json')];
    });
  const units = () =>
    db.selectFrom('units').select((column) => {
      const unit = json.object<Schemas['Unit']>({
        id: column.ref('id').$castTo<UnitId>(),
        name: column.ref('name'),
        description: column.ref('description'),
        unitTypeId: column.ref('unitTypeId').$castTo<UnitTypeId>(),
        parentUnitId: column.ref('parentId').$castTo<UnitId | null>(),
      });
      return ['id', json.text(unit).as('json')];
    });
  /** All of a client, in the order of age. */
  const listOf = <T>(rows: () => SelectQueryBuilder<Tables, Owned, { json: JsonOf<T> }>) => {
    const ofClient = keptQuery(db, (clientId: string) =>
      rows().where('clientId', '=', clientId).orderBy('createdAt').orderBy('id'),
    );
    return async (clientId: string) => jsonArray((await ofClient(clientId)).map((row) => row.json));
  };
  const unitTypesOf = listOf(unitTypes);
  const locationsOf = listOf(locations);
  const unitsOf = listOf(units);
  const titlesOf = keptQuery(db, (clientId: string) =>
    db.selectFrom('jobTitles').where('clientId', '=', clientId).orderBy('title').select('title'),
  );
  const titlesOfAll = keptQuery(db, (clientIds: string) =>
    db
      .selectFrom('jobTitles')
      .where(inList(db, 'clientId', clientIds))
      .orderBy('clientId')
      .orderBy('title')
      .select(['clientId', 'title']),
  );

  return {
    // Units first: a type or location added in between is superfluous, never a missing reference.
    structureOf: async (clientId) => {
      const units = await unitsOf(clientId);
      const [unitsTypes, locations] = await Promise.all([unitTypesOf(clientId), locationsOf(clientId)]);
      return jsonObject<Schemas['OrganizationStructure']>({ unitsTypes, units, locations });
    },
    jobTitlesOf: async (clientId) => jsonOf((await titlesOf(clientId)).map(({ title }) => title)),
    jobTitlesOfAll: async (ids) => {
      const titles = new Map((JSON.parse(ids) as string[]).map((id) => [id, [] as string[]]));
      for (const { clientId, title } of await titlesOfAll(ids)) {
        titles.get(clientId)?.push(title);
      }
      return [...titles].map(([id, own]) => ({ id, json: jsonOf(own) }));
    },
    unitTypesOf: keptQuery(db, (ids: string) => unitTypes().where(inList(db, 'id', ids))),
    unitsOf: keptQuery(db, (ids: string) => units().where(inList(db, 'id', ids))),
    locationsOf: keptQuery(db, (ids: string) => locations().where(inList(db, 'id', ids))),
  };
}
