import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import {
  createUnitType,
  deleteUnitType,
  getUnitType,
  updateUnitType,
} from '../../../domain/platform/organization/unit-types.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function unitTypeHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createUnitType: (request, context) =>
      write(platform, methods.createUnitType, request, context, (changes) =>
        createUnitType(changes, request),
      ),
    getUnitType: async ({ unitTypeId }) => ({ unitType: await getUnitType(rows, unitTypeId) }),
    listUnitTypes: async ({ clientId, ...listing }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: unitTypes, nextPageToken } = await listPage(listing, (page) =>
        rows.unitTypes.page(page, id),
      );
      return { unitTypes, nextPageToken };
    },
    updateUnitType: (request, context) =>
      write(platform, methods.updateUnitType, request, context, async (changes) => ({
        unitType: await updateUnitType(changes, request),
      })),
    deleteUnitType: (request, context) =>
      write(platform, methods.deleteUnitType, request, context, async (changes) => {
        await deleteUnitType(changes, request);
        return {};
      }),
  };
}
