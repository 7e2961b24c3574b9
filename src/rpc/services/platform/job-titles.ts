import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import {
  addJobTitle,
  listJobTitles,
  removeJobTitle,
  renameJobTitle,
} from '../../../domain/platform/job-titles.js';
import type { UnitOfWork } from '../../../domain/platform/unit-of-work.js';
import type { Handlers } from '../../handlers.js';
import { write } from './write.js';

export function jobTitleHandlers(unitOfWork: UnitOfWork): Handlers<typeof methods> {
  return {
    addJobTitle: (request) =>
      write(unitOfWork, methods.addJobTitle, request, async (changes) => ({
        title: await addJobTitle(changes, request),
      })),
    listJobTitles: ({ clientId, ...listing }) =>
      unitOfWork.run((changes) => listJobTitles(changes, clientId, listing)),
    renameJobTitle: (request) =>
      write(unitOfWork, methods.renameJobTitle, request, (changes) => renameJobTitle(changes, request)),
    removeJobTitle: (request) =>
      write(unitOfWork, methods.removeJobTitle, request, async (changes) => {
        await removeJobTitle(changes, request);
        return {};
      }),
  };
}
