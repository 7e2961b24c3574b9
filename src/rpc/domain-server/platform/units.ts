import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import { createUnit, deleteUnit, getUnit, updateUnit } from '../../../domain/platform/organization/units.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function unitHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createUnit: (request, context) =>
      write(platform, methods.createUnit, request, context, (changes) => createUnit(changes, request)),
    getUnit: async ({ unitId }) => ({ unit: await getUnit(rows, unitId) }),
    listUnits: async ({ clientId, unitTypeId, parentUnitId, ...listing }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: units, nextPageToken } = await listPage(listing, (page) =>
        rows.units.page(page, id, { unitTypeId, parentUnitId }),
      );
      return { units, nextPageToken };
    },
    updateUnit: (request, context) =>
      write(platform, methods.updateUnit, request, context, async (changes) => ({
        unit: await updateUnit(changes, request),
      })),
    deleteUnit: (request, context) =>
      write(platform, methods.deleteUnit, request, context, async (changes) => {
        await deleteUnit(changes, request);
        return {};
      }),
  };
}
