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
import type { UnitOfWork } from '../../../domain/platform/unit-of-work.js';
import type { Handlers } from '../../handlers.js';
import { write } from './write.js';

export function locationHandlers(unitOfWork: UnitOfWork): Handlers<typeof methods> {
  return {
    createLocation: (request) =>
      write(unitOfWork, methods.createLocation, request, async (changes) => ({
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
    updateLocation: (request) =>
      write(unitOfWork, methods.updateLocation, request, async (changes) => ({
        location: toMessage(await updateLocation(changes, request)),
      })),
    deleteLocation: (request) =>
      write(unitOfWork, methods.deleteLocation, request, (changes) => deleteLocation(changes, request)),
  };
}

function toMessage({ id, clientId, name, version, createdAt, updatedAt }: Location): OrganizationLocation {
  return { id, clientId, name, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt), version };
}
