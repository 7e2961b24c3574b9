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
  const { unitOfWork } = platform;
  return {
    createLocation: (request, context) =>
      write(platform, methods.createLocation, request, context, async (changes) => ({
        location: toMessage(await createLocation(changes, request)),
      })),
    getLocation: ({ locationId }) =>
      unitOfWork.run(async (changes) => ({ location: toMessage(await getLocation(changes, locationId)) })),
    listLocations: ({ clientId, ...listing }) =>
      unitOfWork.run(async (changes) => {
        const { id } = await getClient(changes, clientId);
        const { rows, nextPageToken } = await listPage(listing, (page) => changes.locations.page(page, id));
        return { locations: rows.map(toMessage), nextPageToken };
      }),
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
