import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, whole } from './read.js';
import { toClient } from './resources.js';

export const listClients: GatewayHandler<'listClients'> = async (request, dependencies) => {
  const read = beginRead(request, dependencies, 'listClients');
  const question = { context: read.context, ...request.params };
  const messages = dependencies.directory.listClients(question, read.listCall);
  return whole(read, messages, ({ clients }) => clients.map(toClient));
};
