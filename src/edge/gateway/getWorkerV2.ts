import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, one } from './read.js';
import { present, toWorkerV2 } from './resources.js';

export const getWorkerV2: GatewayHandler<'getWorkerV2'> = async (request, dependencies) => {
  const read = beginRead(request, dependencies, 'getWorkerV2');
  const question = { context: read.context, ...request.params };
  const { header, worker } = await dependencies.directory.getWorker(question, read.call);
  return one(read, header, () => toWorkerV2(present(worker)));
};
