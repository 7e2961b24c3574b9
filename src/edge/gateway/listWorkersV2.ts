import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, page, whole } from './read.js';
import { toWorkerV2 } from './resources.js';

export const listWorkersV2: GatewayHandler<'listWorkersV2'> = async (request, dependencies) => {
  const read = beginRead(request, dependencies, 'listWorkersV2');
  const { params, query } = request;
  const messages = dependencies.directory.listWorkers(
    { context: read.context, ...params, ...query, withOrganization: true },
    read.listCall,
  );
  const rowsOf = ({ workers }: { workers: Parameters<typeof toWorkerV2>[0][] }) => workers.map(toWorkerV2);
  return query.limit === undefined
    ? whole(read, messages, rowsOf)
    : page(read, messages, rowsOf, (cursor) =>
        dependencies.addressOf('listWorkersV2', params, { ...query, cursor }),
      );
};
