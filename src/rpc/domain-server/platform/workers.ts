import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { WorkerStatus as WorkerStatusMessage } from '../../../../generated/proto/integration/platform/v1/workers.js';
import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import {
  assignWorkerUnits,
  offboardWorker,
  updateWorker,
} from '../../../domain/platform/people/worker-changes.js';
import { onboardWorker } from '../../../domain/platform/people/worker-onboarding.js';
import { getWorker } from '../../../domain/platform/people/workers.js';
import type { Worker, WorkerStatus } from '../../../domain/platform/rows/workers.js';
import { Violations } from '../../../domain/platform/violations.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function workerHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    onboardWorker: (request, context) =>
      write(platform, methods.onboardWorker, request, context, async (changes) => ({
        worker: toMessage(await onboardWorker(changes, request)),
      })),
    getWorker: async ({ workerId }) => ({ worker: toMessage(await getWorker(rows, workerId)) }),
    listWorkers: async ({ clientId, statuses, unitId, locationId, ...listing }) => {
      const filter = { statuses: toStatuses(statuses), unitId, locationId };
      const { id } = await getClient(rows, clientId);
      const { rows: found, nextPageToken } = await listPage(listing, (page) =>
        rows.workers.page(page, id, filter),
      );
      return { workers: found.map(toMessage), nextPageToken };
    },
    updateWorker: (request, context) =>
      write(platform, methods.updateWorker, request, context, async (changes) => ({
        worker: toMessage(await updateWorker(changes, request)),
      })),
    assignWorkerUnits: (request, context) =>
      write(platform, methods.assignWorkerUnits, request, context, async (changes) => ({
        worker: toMessage(await assignWorkerUnits(changes, request)),
      })),
    offboardWorker: (request, context) =>
      write(platform, methods.offboardWorker, request, context, async (changes) => ({
        worker: toMessage(await offboardWorker(changes, request)),
      })),
  };
}

/** The default: those who work for the client. */
function toStatuses(messages: readonly WorkerStatusMessage[]): WorkerStatus[] {
  const violations = new Violations();
  const statuses = messages.flatMap((message, index): WorkerStatus[] => {
    switch (message) {
      case WorkerStatusMessage.ACTIVE:
        return ['ACTIVE'];
      case WorkerStatusMessage.OFFBOARDED:
        return ['OFFBOARDED'];
      default:
        violations.add(`statuses[${index}]`, 'must be a status that a worker can have');
        return [];
    }
  });
  violations.throwIfAny();
  return statuses.length > 0 ? statuses : ['ACTIVE'];
}

function toMessage(worker: Worker) {
  return {
    ...worker,
    unitIds: worker.units.map(({ id }) => id),
    primaryUnitId: worker.primaryUnit?.id,
    locationId: worker.location?.id,
    status: worker.offboardedAt === null ? WorkerStatusMessage.ACTIVE : WorkerStatusMessage.OFFBOARDED,
  };
}
