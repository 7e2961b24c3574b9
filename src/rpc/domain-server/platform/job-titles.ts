import {
  addJobTitle,
  listJobTitles,
  removeJobTitle,
  renameJobTitle,
} from '../../../domain/platform/organization/job-titles.js';
import { type PlatformDependencies, type PlatformHandlers, writing } from './write.js';

export function jobTitleHandlers(platform: PlatformDependencies): PlatformHandlers {
  const { rows } = platform.unitOfWork;
  return {
    ...writing(platform, {
      addJobTitle: async (changes, request) => ({ title: await addJobTitle(changes, request) }),
      renameJobTitle,
      removeJobTitle,
    }),
    listJobTitles: ({ clientId, ...listing }) => listJobTitles(rows, clientId, listing),
  };
}
