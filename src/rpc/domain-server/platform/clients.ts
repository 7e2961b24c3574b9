import { listPage } from '../../../domain/platform/listing.js';
import { createClient, getClient, updateClient } from '../../../domain/platform/organization/clients.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function clientHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      createClient: async (changes, request) => ({ client: await createClient(changes, request) }),
      updateClient: async (changes, request) => ({ client: await updateClient(changes, request) }),
    }),
    getClient: async ({ clientId }, { rows }) => ({ client: await getClient(rows, clientId) }),
    listClients: async ({ instanceId, ...listing }, { rows }) => {
      const { rows: clients, nextPageToken } = await listPage(listing, (page) =>
        rows.clients.page(page, instanceId),
      );
      return { clients, nextPageToken };
    },
  };
}
