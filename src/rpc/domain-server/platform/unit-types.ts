import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import {
  createUnitType,
  deleteUnitType,
  getUnitType,
  updateUnitType,
} from '../../../domain/platform/organization/unit-types.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function unitTypeHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      createUnitType,
      updateUnitType: async (changes, request) => ({ unitType: await updateUnitType(changes, request) }),
      deleteUnitType,
    }),
    getUnitType: async ({ unitTypeId }, { rows }) => ({ unitType: await getUnitType(rows, unitTypeId) }),
    listUnitTypes: async ({ clientId, ...listing }, { rows }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: unitTypes, nextPageToken } = await listPage(listing, (page) =>
        rows.unitTypes.page(page, id),
      );
      return { unitTypes, nextPageToken };
    },
  };
}
