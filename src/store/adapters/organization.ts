import type { OrganizationStore, Unit } from '../../domain/directory/organization.js';
import type { Database } from '../database.js';

export function organizationStore({ reader }: Database): OrganizationStore {
  const namedOf = (table: 'unit_types' | 'locations', clientId: string) =>
    reader
      .selectFrom(table)
      .where('client_id', '=', clientId)
      .orderBy('created_at')
      .orderBy('id')
      .select(['id', 'name'])
      .execute();

  const unitsOf = (clientId: string) =>
    reader
      .selectFrom('units')
      .where('client_id', '=', clientId)
      .orderBy('created_at')
      .orderBy('id')
      .select(['id', 'name', 'description', 'unit_type_id as unitTypeId', 'parent_id as parentUnitId'])
      .$castTo<Unit>()
      .execute();

  return {
    // Units first: a type or a location that comes in between is one too many, never one that a unit refers to and nobody lists.
    structureOf: async (clientId) => {
      const units = await unitsOf(clientId);
      const [unitTypes, locations] = await Promise.all([
        namedOf('unit_types', clientId),
        namedOf('locations', clientId),
      ]);
      return { unitTypes, units, locations };
    },
    jobTitlesOf: async (clientId) => {
      const rows = await reader
        .selectFrom('job_titles')
        .where('client_id', '=', clientId)
        .orderBy('title')
        .select('title')
        .execute();
      return rows.map(({ title }) => title);
    },
  };
}
