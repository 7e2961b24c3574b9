import type { OrganizationLocation } from '../../../../generated/proto/integration/platform/v1/locations.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { getClient } from '../../../domain/platform/clients.js';
import { listPage } from '../../../domain/platform/listing.js';
import {
  createLocation,
  deleteLocation,
  getLocation,
  type Location,
  updateLocation,
} from '../../../domain/platform/locations.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function locationHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createLocation: (request, context) =>
      write(platform, methods.createLocation, request, context, async (changes) => ({
        location: toMessage(await createLocation(changes, request)),
      })),
    getLocation: async ({ locationId }) => ({ location: toMessage(await getLocation(rows, locationId)) }),
    listLocations: async ({ clientId, ...listing }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: found, nextPageToken } = await listPage(listing, (page) => rows.locations.page(page, id));
      return { locations: found.map(toMessage), nextPageToken };
    },
    updateLocation: (request, context) =>
      write(platform, methods.updateLocation, request, context, async (changes) => ({
        location: toMessage(await updateLocation(changes, request)),
      })),
    deleteLocation: (request, context) =>
      write(platform, methods.deleteLocation, request, context, (changes) =>
        deleteLocation(changes, request),
      ),
  };
}

function toMessage({ id, clientId, name, version, createdAt, updatedAt }: Location): OrganizationLocation {
  return { id, clientId, name, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt), version };
}
