import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, one } from './read.js';

export const listJobTitles: GatewayHandler<'listJobTitles'> = async (request, dependencies) => {
  const read = beginRead(request, dependencies, 'listJobTitles');
  const question = { context: read.context, ...request.params };
  const { header, jobTitles } = await dependencies.directory.listJobTitles(question, read.call);
  return one(read, header, () => jobTitles);
};
