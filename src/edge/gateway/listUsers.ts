import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, page, whole } from './read.js';
import { toUser } from './resources.js';

export const listUsers: GatewayHandler<'listUsers'> = async (request, dependencies) => {
  const read = beginRead(request, dependencies, 'listUsers');
  const { params, query } = request;
  const messages = dependencies.directory.listUsers(
    { context: read.context, ...params, ...query },
    read.listCall,
  );
  const rowsOf = ({ users }: { users: Parameters<typeof toUser>[0][] }) => users.map(toUser);
  return query.limit === undefined
    ? whole(read, messages, rowsOf)
    : page(read, messages, rowsOf, (cursor) =>
        dependencies.addressOf('listUsers', params, { ...query, cursor }),
      );
};
