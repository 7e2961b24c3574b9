import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import {
  createLocation,
  deleteLocation,
  getLocation,
  updateLocation,
} from '../../../domain/platform/organization/locations.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function locationHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createLocation: (request, context) =>
      write(platform, methods.createLocation, request, context, async (changes) => ({
        location: await createLocation(changes, request),
      })),
    getLocation: async ({ locationId }) => ({ location: await getLocation(rows, locationId) }),
    listLocations: async ({ clientId, ...listing }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: locations, nextPageToken } = await listPage(listing, (page) =>
        rows.locations.page(page, id),
      );
      return { locations, nextPageToken };
    },
    updateLocation: (request, context) =>
      write(platform, methods.updateLocation, request, context, async (changes) => ({
        location: await updateLocation(changes, request),
      })),
    deleteLocation: (request, context) =>
      write(platform, methods.deleteLocation, request, context, (changes) =>
        deleteLocation(changes, request),
      ),
  };
}
