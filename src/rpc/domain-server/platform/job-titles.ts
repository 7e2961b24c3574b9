import {
  addJobTitle,
  listJobTitles,
  removeJobTitle,
  renameJobTitle,
} from '../../../domain/platform/organization/job-titles.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function jobTitleHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      addJobTitle: async (changes, request) => ({ title: await addJobTitle(changes, request) }),
      renameJobTitle,
      removeJobTitle,
    }),
    listJobTitles: ({ clientId, ...listing }, { rows }) => listJobTitles(rows, clientId, listing),
  };
}
