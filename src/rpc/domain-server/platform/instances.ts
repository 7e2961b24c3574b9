import { listPage } from '../../../domain/platform/listing.js';
import {
  createInstance,
  getInstance,
  updateInstance,
} from '../../../domain/platform/organization/instances.js';
import { type PlatformDependencies, type PlatformHandlers, writing } from './write.js';

export function instanceHandlers(platform: PlatformDependencies): PlatformHandlers {
  const { rows } = platform.unitOfWork;
  return {
    ...writing(platform, {
      createInstance: async (changes, request) => ({ instance: await createInstance(changes, request) }),
      updateInstance: async (changes, request) => ({ instance: await updateInstance(changes, request) }),
    }),
    getInstance: async ({ instanceId }) => ({ instance: await getInstance(rows, instanceId) }),
    listInstances: async (listing) => {
      const { rows: instances, nextPageToken } = await listPage(listing, (page) => rows.instances.page(page));
      return { instances, nextPageToken };
    },
  };
}
