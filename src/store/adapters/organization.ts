import { type RawBuilder, sql } from 'kysely';
import type { LocationId, UnitId, UnitTypeId } from '../../../generated/ids.js';
import { type JsonOf, jsonOf, type Schemas } from '../../domain/directory/contract-json.js';
import type { OrganizationStore } from '../../domain/directory/stores.js';
import { camelCased, type Database } from '../database.js';
import { contractJson } from './statements/contract-json.js';
import { inList } from './statements/dialect.js';
import { keptQuery } from './statements/kept-statement.js';

type Owned = 'locations' | 'unitTypes' | 'units';

/** Of several clients in one read. One client may have as many. */
const MOST_TITLES = 10_000;

export function organizationStore({ reader }: Pick<Database, 'reader'>): OrganizationStore {
  const db = camelCased(reader);
  const json = contractJson(db);
  const name = sql.ref<string>('name');
  const unitType = json.object<Schemas['UnitType']>({ id: sql.ref<UnitTypeId>('id'), name });
  const location = json.object<Schemas['OrganizationLocation']>({ id: sql.ref<LocationId>('id'), name });
  const unit = json.object<Schemas['Unit']>({
    id: sql.ref<UnitId>('id'),
    name,
    description: sql.ref<string | null>('description'),
    unitTypeId: sql.ref<UnitTypeId>('unitTypeId'),
    parentUnitId: sql.ref<UnitId | null>('parentId'),
  });
  const byIds = <T>(table: Owned, row: RawBuilder<T>) =>
    keptQuery(db, (ids: string) =>
      db
        .selectFrom(table)
        .where(inList(db, 'id', ids))
        .select(['id', json.text(row).as('json')]),
    );
  /** One statement, which sees one moment: no unit refers to a type that is missing. */
  const structures = keptQuery(db, (clientId: string) => {
    const all = <T>(table: Owned, row: RawBuilder<T>) =>
      json.list(row, sql`${sql.table(table)} where client_id = ${clientId}`, sql`created_at, id`);
    const structure = json.object<Schemas['OrganizationStructure']>({
      unitsTypes: all('unitTypes', unitType),
      units: all('units', unit),
      locations: all('locations', location),
    });
    return db.selectNoFrom(json.text(structure).as('json'));
  });
  const titlesOf = keptQuery(db, (clientId: string) =>
    db.selectFrom('jobTitles').where('clientId', '=', clientId).orderBy('title').select('title'),
  );
  // Limited before it is sorted, so that no more rows are read: SQLite does that only with an offset.
  const titlesOfAll = keptQuery(db, (clientIds: string) =>
    db
      .selectFrom(
        db
          .selectFrom('jobTitles')
          .where(inList(db, 'clientId', clientIds))
          .select(['clientId', 'title'])
          .limit(MOST_TITLES)
          .offset(0)
          .as('some'),
      )
      .orderBy('title')
      .select(['clientId', 'title']),
  );
  const jobTitlesOf = async (clientId: string) =>
    jsonOf((await titlesOf(clientId)).map(({ title }) => title));

  return {
    structureOf: async (clientId) =>
      (await structures(clientId))[0]?.json as JsonOf<Schemas['OrganizationStructure']>,
    jobTitlesOf,
    jobTitlesOfAll: async (ids) => {
      const clientIds = JSON.parse(ids) as [string, ...string[]];
      const found = await titlesOfAll(ids);
      if (found.length === MOST_TITLES) {
        const [id] = clientIds;
        return [{ id, json: await jobTitlesOf(id) }];
      }
      const titles = new Map(clientIds.map((id) => [id, [] as string[]]));
      for (const { clientId, title } of found) {
        titles.get(clientId)?.push(title);
      }
      return [...titles].map(([id, own]) => ({ id, json: jsonOf(own) }));
    },
    unitTypesOf: byIds('unitTypes', unitType),
    unitsOf: byIds('units', unit),
    locationsOf: byIds('locations', location),
  };
}
