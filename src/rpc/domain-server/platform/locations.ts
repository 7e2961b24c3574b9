import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import {
  createLocation,
  deleteLocation,
  getLocation,
  updateLocation,
} from '../../../domain/platform/organization/locations.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function locationHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      createLocation: async (changes, request) => ({ location: await createLocation(changes, request) }),
      updateLocation: async (changes, request) => ({ location: await updateLocation(changes, request) }),
      deleteLocation,
    }),
    getLocation: async ({ locationId }, { rows }) => ({ location: await getLocation(rows, locationId) }),
    listLocations: async ({ clientId, ...listing }, { rows }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: locations, nextPageToken } = await listPage(listing, (page) =>
        rows.locations.page(page, id),
      );
      return { locations, nextPageToken };
    },
  };
}
