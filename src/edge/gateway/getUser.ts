import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, one } from './read.js';
import { present, toUser } from './resources.js';

export const getUser: GatewayHandler<'getUser'> = async (request, dependencies) => {
  const read = beginRead(request, dependencies, 'getUser');
  const question = { context: read.context, ...request.params };
  const { header, user } = await dependencies.directory.getUser(question, read.call);
  return one(read, header, () => toUser(present(user)));
};
