import type { LocationId, UnitId, UnitTypeId } from '../../../generated/ids.js';
import { type JsonOf, jsonArray, jsonObject, type Schemas } from '../../domain/directory/contract-json.js';
import type { OrganizationStore } from '../../domain/directory/stores.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';
import { contractJson } from './statements/contract-json.js';
import { keptQuery } from './statements/kept-query.js';

export function organizationStore({ reader }: Database): OrganizationStore {
  const db = camelCased(reader);
  const json = contractJson(db);
  const listOf =
    <T>(rows: (clientId: string) => Promise<{ json: JsonOf<T> }[]>) =>
    async (clientId: string) =>
      jsonArray((await rows(clientId)).map((row) => row.json));

  const unitTypesOf = listOf(
    keptQuery(db, (clientId: string) =>
      db
        .selectFrom('unitTypes')
        .where('clientId', '=', clientId)
        .orderBy('createdAt')
        .orderBy('id')
        .select((column) => {
          const [id, name] = [column.ref('id').$castTo<UnitTypeId>(), column.ref('name')];
          return json.text(json.object<Schemas['UnitType']>({ id, name })).as('json');
        }),
    ),
  );
  const locationsOf = listOf(
    keptQuery(db, (clientId: string) =>
      db
        .selectFrom('locations')
        .where('clientId', '=', clientId)
        .orderBy('createdAt')
        .orderBy('id')
        .select((column) => {
          const [id, name] = [column.ref('id').$castTo<LocationId>(), column.ref('name')];
          return json.text(json.object<Schemas['OrganizationLocation']>({ id, name })).as('json');
        }),
    ),
  );
  const unitsOf = listOf(
    keptQuery(db, (clientId: string) =>
      db
        .selectFrom('units')
        .where('clientId', '=', clientId)
        .orderBy('createdAt')
        .orderBy('id')
        .select((column) => {
          const unit = json.object<Schemas['Unit']>({
            id: column.ref('id').$castTo<UnitId>(),
            name: column.ref('name'),
            description: column.ref('description'),
            unitTypeId: column.ref('unitTypeId').$castTo<UnitTypeId>(),
            parentUnitId: column.ref('parentId').$castTo<UnitId | null>(),
          });
          return json.text(unit).as('json');
        }),
    ),
  );
  const titlesOf = keptQuery(db, (clientId: string) =>
    db.selectFrom('jobTitles').where('clientId', '=', clientId).orderBy('title').select('title'),
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
  };
}
