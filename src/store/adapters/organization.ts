import type { LocationId, UnitId, UnitTypeId } from '../../../generated/ids.js';
import { type JsonOf, jsonArray, jsonObject, type Schemas } from '../../domain/directory/contract-json.js';
import type { OrganizationStore } from '../../domain/directory/stores.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';
import { contractJson } from './statements/contract-json.js';
import { inList } from './statements/dialect.js';
import { keptQuery } from './statements/kept-query.js';

export function organizationStore({ reader }: Pick<Database, 'reader'>): OrganizationStore {
  const db = camelCased(reader);
  const json = contractJson(db);
  const listOf =
    <T>(rows: (clientId: string) => Promise<{ json: JsonOf<T> }[]>) =>
    async (clientId: string) =>
      jsonArray((await rows(clientId)).map((row) => row.json));

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
  const unitTypesOf = listOf(
    keptQuery(db, (clientId: string) =>
      unitTypes().where('clientId', '=', clientId).orderBy('createdAt').orderBy('id'),
    ),
  );
  const locationsOf = listOf(
    keptQuery(db, (clientId: string) =>
      locations().where('clientId', '=', clientId).orderBy('createdAt').orderBy('id'),
    ),
  );
  const unitsOf = listOf(
    keptQuery(db, (clientId: string) =>
      units().where('clientId', '=', clientId).orderBy('createdAt').orderBy('id'),
    ),
  );
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
    jobTitlesOf: async (clientId) =>
      JSON.stringify((await titlesOf(clientId)).map(({ title }) => title)) as JsonOf<string[]>,
    jobTitlesOfAll: async (ids) => {
      const titles = new Map((JSON.parse(ids) as string[]).map((id) => [id, [] as string[]]));
      for (const { clientId, title } of await titlesOfAll(ids)) {
        titles.get(clientId)?.push(title);
      }
      return [...titles].map(([id, own]) => ({ id, json: JSON.stringify(own) as JsonOf<string[]> }));
    },
    unitTypesOf: keptQuery(db, (ids: string) => unitTypes().where(inList(db, 'id', ids))),
    unitsOf: keptQuery(db, (ids: string) => units().where(inList(db, 'id', ids))),
    locationsOf: keptQuery(db, (ids: string) => locations().where(inList(db, 'id', ids))),
  };
}
