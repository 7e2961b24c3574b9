import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, whole } from './read.js';
import { toWorker } from './resources.js';

export const listWorkers: GatewayHandler<'listWorkers'> = async (request, dependencies) => {
  const read = beginRead(request, dependencies, 'listWorkers');
  const question = { context: read.context, ...request.params, withOrganization: false };
  const messages = dependencies.directory.listWorkers(question, read.listCall);
  return whole(read, messages, ({ workers }) => workers.map(toWorker));
};
