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
import type { Worker } from '../../../domain/platform/rows/people.js';
import { filterOf, fromEnum } from '../fields.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function workerHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      onboardWorker: (changes, request) => answerOf(onboardWorker(changes, request)),
      updateWorker: (changes, request) => answerOf(updateWorker(changes, request)),
      assignWorkerUnits: (changes, request) => answerOf(assignWorkerUnits(changes, request)),
      offboardWorker: (changes, request) => answerOf(offboardWorker(changes, request)),
    }),
    getWorker: async ({ workerId }, { rows }) => answerOf(getWorker(rows, workerId)),
    listWorkers: async ({ clientId, statuses, unitId, locationId, ...listing }, { rows }) => {
      const chosen = filterOf(statuses, statusOf, 'must be a status that a worker can have');
      // The default: those who work for the client.
      const filter = { statuses: chosen.length > 0 ? chosen : ['ACTIVE' as const], unitId, locationId };
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

async function answerOf(worker: Promise<Worker>) {
  return { worker: toMessage(await worker) };
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
