import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { listPage } from '../../../domain/platform/listing.js';
import {
  createInstance,
  getInstance,
  updateInstance,
} from '../../../domain/platform/organization/instances.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function instanceHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createInstance: (request, context) =>
      write(platform, methods.createInstance, request, context, async (changes) => ({
        instance: await createInstance(changes, request),
      })),
    getInstance: async ({ instanceId }) => ({ instance: await getInstance(rows, instanceId) }),
    listInstances: async (listing) => {
      const { rows: instances, nextPageToken } = await listPage(listing, (page) => rows.instances.page(page));
      return { instances, nextPageToken };
    },
    updateInstance: (request, context) =>
      write(platform, methods.updateInstance, request, context, async (changes) => ({
        instance: await updateInstance(changes, request),
      })),
  };
}
