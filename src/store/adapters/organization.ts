import type { OrganizationStore, Unit } from '../../domain/directory/organization.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';

export function organizationStore({ reader }: Database): OrganizationStore {
  const db = camelCased(reader);
  const namedOf = (table: 'unitTypes' | 'locations', clientId: string) =>
    db
      .selectFrom(table)
      .where('clientId', '=', clientId)
      .orderBy('createdAt')
      .orderBy('id')
      .select(['id', 'name'])
      .execute();

  const unitsOf = (clientId: string) =>
    db
      .selectFrom('units')
      .where('clientId', '=', clientId)
      .orderBy('createdAt')
      .orderBy('id')
      .select(['id', 'name', 'description', 'unitTypeId', 'parentId as parentUnitId'])
      .$narrowType<Pick<Unit, 'id' | 'unitTypeId' | 'parentUnitId'>>()
      .execute();

  return {
    // Units first: a type or location added in between is superfluous, never a missing reference.
    structureOf: async (clientId) => {
      const units = await unitsOf(clientId);
      const [unitTypes, locations] = await Promise.all([
        namedOf('unitTypes', clientId),
        namedOf('locations', clientId),
      ]);
      return { unitTypes, units, locations };
    },
    jobTitlesOf: async (clientId) => {
      const rows = await db
        .selectFrom('jobTitles')
        .where('clientId', '=', clientId)
        .orderBy('title')
        .select('title')
        .execute();
      return rows.map(({ title }) => title);
    },
  };
}
