import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import {
  addJobTitle,
  listJobTitles,
  removeJobTitle,
  renameJobTitle,
} from '../../../domain/platform/organization/job-titles.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function jobTitleHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    addJobTitle: (request, context) =>
      write(platform, methods.addJobTitle, request, context, async (changes) => ({
        title: await addJobTitle(changes, request),
      })),
    listJobTitles: ({ clientId, ...listing }) => listJobTitles(rows, clientId, listing),
    renameJobTitle: (request, context) =>
      write(platform, methods.renameJobTitle, request, context, (changes) =>
        renameJobTitle(changes, request),
      ),
    removeJobTitle: (request, context) =>
      write(platform, methods.removeJobTitle, request, context, async (changes) => {
        await removeJobTitle(changes, request);
        return {};
      }),
  };
}
