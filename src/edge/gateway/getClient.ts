import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, one } from './read.js';
import { present, toClient } from './resources.js';

export const getClient: GatewayHandler<'getClient'> = async (request, dependencies) => {
  const read = beginRead(request, dependencies, 'getClient');
  const question = { context: read.context, ...request.params };
  const { header, client } = await dependencies.directory.getClient(question, read.call);
  return one(read, header, () => toClient(present(client)));
};
