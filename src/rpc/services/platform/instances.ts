import type { Instance as InstanceMessage } from '../../../../generated/proto/integration/platform/v1/instances.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import {
  createInstance,
  getInstance,
  type Instance,
  updateInstance,
} from '../../../domain/platform/instances.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function instanceHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createInstance: (request, context) =>
      write(platform, methods.createInstance, request, context, async (changes) => ({
        instance: toMessage(await createInstance(changes, request)),
      })),
    getInstance: async ({ instanceId }) => ({ instance: toMessage(await getInstance(rows, instanceId)) }),
    listInstances: async (listing) => {
      const { rows: found, nextPageToken } = await listPage(listing, (page) => rows.instances.page(page));
      return { instances: found.map(toMessage), nextPageToken };
    },
    updateInstance: (request, context) =>
      write(platform, methods.updateInstance, request, context, async (changes) => ({
        instance: toMessage(await updateInstance(changes, request)),
      })),
  };
}

function toMessage({ id, name, version, createdAt, updatedAt }: Instance): InstanceMessage {
  return { id, name, version, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}
