import type { Client as ClientMessage } from '../../../../generated/proto/integration/platform/v1/clients.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { type Client, createClient, getClient, updateClient } from '../../../domain/platform/clients.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { toAddressMessage } from '../address-message.js';
import { type PlatformDependencies, write } from './write.js';

export function clientHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createClient: (request, context) =>
      write(platform, methods.createClient, request, context, async (changes) => ({
        client: toMessage(await createClient(changes, request)),
      })),
    getClient: async ({ clientId }) => ({ client: toMessage(await getClient(rows, clientId)) }),
    listClients: async ({ instanceId, ...listing }) => {
      const { rows: found, nextPageToken } = await listPage(listing, (page) =>
        rows.clients.page(page, instanceId),
      );
      return { clients: found.map(toMessage), nextPageToken };
    },
    updateClient: (request, context) =>
      write(platform, methods.updateClient, request, context, async (changes) => ({
        client: toMessage(await updateClient(changes, request)),
      })),
  };
}

function toMessage({ id, instanceId, name, address, version, createdAt, updatedAt }: Client): ClientMessage {
  return {
    id,
    instanceId,
    name,
    address: toAddressMessage(address),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    version,
  };
}
