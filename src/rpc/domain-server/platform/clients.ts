import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { listPage } from '../../../domain/platform/listing.js';
import { createClient, getClient, updateClient } from '../../../domain/platform/organization/clients.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function clientHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createClient: (request, context) =>
      write(platform, methods.createClient, request, context, async (changes) => ({
        client: await createClient(changes, request),
      })),
    getClient: async ({ clientId }) => ({ client: await getClient(rows, clientId) }),
    listClients: async ({ instanceId, ...listing }) => {
      const { rows: clients, nextPageToken } = await listPage(listing, (page) =>
        rows.clients.page(page, instanceId),
      );
      return { clients, nextPageToken };
    },
    updateClient: (request, context) =>
      write(platform, methods.updateClient, request, context, async (changes) => ({
        client: await updateClient(changes, request),
      })),
  };
}
