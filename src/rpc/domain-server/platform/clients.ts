import { listPage } from '../../../domain/platform/listing.js';
import { createClient, getClient, updateClient } from '../../../domain/platform/organization/clients.js';
import { type PlatformDependencies, type PlatformHandlers, writing } from './write.js';

export function clientHandlers(platform: PlatformDependencies): PlatformHandlers {
  const { rows } = platform.unitOfWork;
  return {
    ...writing(platform, {
      createClient: async (changes, request) => ({ client: await createClient(changes, request) }),
      updateClient: async (changes, request) => ({ client: await updateClient(changes, request) }),
    }),
    getClient: async ({ clientId }) => ({ client: await getClient(rows, clientId) }),
    listClients: async ({ instanceId, ...listing }) => {
      const { rows: clients, nextPageToken } = await listPage(listing, (page) =>
        rows.clients.page(page, instanceId),
      );
      return { clients, nextPageToken };
    },
  };
}
