import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import { createUnit, deleteUnit, getUnit, updateUnit } from '../../../domain/platform/organization/units.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function unitHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      createUnit,
      updateUnit: async (changes, request) => ({ unit: await updateUnit(changes, request) }),
      deleteUnit,
    }),
    getUnit: async ({ unitId }, { rows }) => ({ unit: await getUnit(rows, unitId) }),
    listUnits: async ({ clientId, unitTypeId, parentUnitId, ...listing }, { rows }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: units, nextPageToken } = await listPage(listing, (page) =>
        rows.units.page(page, id, { unitTypeId, parentUnitId }),
      );
      return { units, nextPageToken };
    },
  };
}
