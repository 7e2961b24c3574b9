import type { Client as ClientMessage } from '../../../../generated/proto/integration/platform/v1/clients.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { type Client, createClient, getClient, updateClient } from '../../../domain/platform/clients.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { toAddressMessage } from '../address-message.js';
import { type PlatformDependencies, write } from './write.js';

export function clientHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { unitOfWork } = platform;
  return {
    createClient: (request, context) =>
      write(platform, methods.createClient, request, context, async (changes) => ({
        client: toMessage(await createClient(changes, request)),
      })),
    getClient: ({ clientId }) =>
      unitOfWork.run(async (changes) => ({ client: toMessage(await getClient(changes, clientId)) })),
    listClients: ({ instanceId, ...listing }) =>
      unitOfWork.run(async ({ clients }) => {
        const { rows, nextPageToken } = await listPage(listing, (page) => clients.page(page, instanceId));
        return { clients: rows.map(toMessage), nextPageToken };
      }),
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
