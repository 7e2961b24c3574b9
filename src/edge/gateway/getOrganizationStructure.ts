import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, one } from './read.js';
import { present, toOrganizationStructure } from './resources.js';

export const getOrganizationStructure: GatewayHandler<'getOrganizationStructure'> = async (
  request,
  dependencies,
) => {
  const read = beginRead(request, dependencies, 'getOrganizationStructure');
  const question = { context: read.context, ...request.params };
  const { header, organizationStructure } = await dependencies.directory.getOrganizationStructure(
    question,
    read.call,
  );
  return one(read, header, () => toOrganizationStructure(present(organizationStructure)));
};
