import { listPage } from '../../../domain/platform/listing.js';
import {
  createInstance,
  getInstance,
  updateInstance,
} from '../../../domain/platform/organization/instances.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function instanceHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      createInstance: async (changes, request) => ({ instance: await createInstance(changes, request) }),
      updateInstance: async (changes, request) => ({ instance: await updateInstance(changes, request) }),
    }),
    getInstance: async ({ instanceId }, { rows }) => ({ instance: await getInstance(rows, instanceId) }),
    listInstances: async (listing, { rows }) => {
      const { rows: instances, nextPageToken } = await listPage(listing, (page) => rows.instances.page(page));
      return { instances, nextPageToken };
    },
  };
}
