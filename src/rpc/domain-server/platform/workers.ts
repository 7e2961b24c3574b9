import { WorkerStatus as WorkerStatusMessage } from '../../../../generated/proto/integration/platform/v1/workers.js';
import { listLargePage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import {
  assignWorkerUnits,
  offboardWorker,
  onboardWorker,
  updateWorker,
} from '../../../domain/platform/people/worker-changes.js';
import { getWorker } from '../../../domain/platform/people/workers.js';
import type { Worker, WorkerStatus } from '../../../domain/platform/rows/people.js';
import { filterOf, fromEnum } from '../words.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function workerHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      onboardWorker: async (changes, request) => ({
        worker: toMessage(await onboardWorker(changes, request)),
      }),
      updateWorker: async (changes, request) => ({ worker: toMessage(await updateWorker(changes, request)) }),
      assignWorkerUnits: async (changes, request) => ({
        worker: toMessage(await assignWorkerUnits(changes, request)),
      }),
      offboardWorker: async (changes, request) => ({
        worker: toMessage(await offboardWorker(changes, request)),
      }),
    }),
    getWorker: async ({ workerId }, { rows }) => ({ worker: toMessage(await getWorker(rows, workerId)) }),
    listWorkers: async ({ clientId, statuses, unitId, locationId, ...listing }, { rows }) => {
      const filter = { statuses: toStatuses(statuses), unitId, locationId };
      const { id } = await getClient(rows, clientId);
      const { rows: found, nextPageToken } = await listLargePage(
        listing,
        (page) => rows.workers.sizes(page, id, filter),
        (ids) => rows.workers.findAll(id, ids),
      );
      return { workers: found.map(toMessage), nextPageToken };
    },
  };
}

const statusOf = fromEnum(WorkerStatusMessage);

/** The default: those who work for the client. */
function toStatuses(values: readonly WorkerStatusMessage[]): WorkerStatus[] {
  const statuses = filterOf(values, statusOf, 'must be a status that a worker can have');
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
