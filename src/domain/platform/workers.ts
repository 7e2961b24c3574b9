import type { NamedLocation, NamedUnit, WorkerEventData } from '../../../generated/asyncapi/events.js';
import type { AccountId, ClientId, LocationId, WorkerId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Address } from '../directory/names.js';
import type { PageRequest } from '../directory/page.js';
import { type Client, lockClient } from './clients.js';
import { linkToWorker } from './links.js';
import type { Changes } from './unit-of-work.js';

export type WorkerStatus = 'ACTIVE' | 'OFFBOARDED';

/** An employee or contractor of one client. */
export interface Worker {
  id: WorkerId;
  clientId: ClientId;
  accountId: AccountId;
  firstName: string;
  lastName: string;
  fullName: string;
  email: string;
  phone: string | null;
  jobTitles: string[];
  address: Address;
  /** In the order in which they were assigned. */
  units: NamedUnit[];
  primaryUnit: NamedUnit | null;
  location: NamedLocation | null;
  offboardedAt: number | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface WorkerFilter {
  /** In one of these; in any when absent. */
  statuses?: readonly WorkerStatus[];
  unitId?: string;
  locationId?: string;
  /** At least those who hold the title; who asks must look at each once more. */
  jobTitle?: string;
}

export interface WorkerRows {
  find(id: string): Promise<Worker | undefined>;
  /** The worker that the person is at the client, unless offboarded. */
  findActive(clientId: ClientId, accountId: AccountId): Promise<Worker | undefined>;
  page(page: PageRequest, clientId: ClientId, filter: WorkerFilter): Promise<Worker[]>;
  /** With the units. */
  insert(worker: Worker): Promise<void>;
  /** All but the units, of which it writes the primary one. */
  update(worker: Worker): Promise<void>;
  /** Puts the worker's units in the place of those assigned before. */
  assign(worker: Pick<Worker, 'id' | 'units'>): Promise<void>;
}

export async function getWorker(changes: Pick<Changes, 'workers'>, id: string): Promise<Worker> {
  const worker = await changes.workers.find(id);
  if (!worker) {
    throw new ServiceError(ErrorCode.WORKER_NOT_FOUND, 'There is no such worker.');
  }
  return worker;
}

/** The client of a worker never changes, so that it tells what to lock; everything else is read behind the lock. */
export async function lockWorker(changes: Changes, id: string): Promise<{ client: Client; worker: Worker }> {
  const { clientId } = await getWorker(changes, id);
  const client = await lockClient(changes, clientId);
  return { client, worker: await getWorker(changes, id) };
}

/** The units of the client with these ids, in their order. */
export async function unitsNamed(
  changes: Pick<Changes, 'units'>,
  clientId: ClientId,
  unitIds: readonly string[],
): Promise<NamedUnit[]> {
  const found = new Map(
    (await changes.units.findAll(clientId, unitIds)).map((unit) => [unit.id as string, unit]),
  );
  const fieldViolations = unitIds.flatMap((id, index) =>
    found.has(id) ? [] : [{ path: `unit_ids[${index}]`, message: 'is no unit of the client' }],
  );
  if (fieldViolations.length > 0) {
    throw new ServiceError(ErrorCode.UNIT_NOT_FOUND, 'The client has no such unit.', { fieldViolations });
  }
  return unitIds.map((id) => {
    const { id: unitId, name } = found.get(id) as NamedUnit;
    return { id: unitId, name };
  });
}

/** The location of the client with this id. */
export async function locationNamed(
  changes: Pick<Changes, 'locations'>,
  clientId: ClientId,
  locationId: string,
): Promise<{ id: LocationId; name: string }> {
  const location = await changes.locations.find(locationId);
  if (location?.clientId !== clientId) {
    const fieldViolations = [{ path: 'location_id', message: 'is no location of the client' }];
    throw new ServiceError(ErrorCode.LOCATION_NOT_FOUND, 'The client has no such location.', {
      fieldViolations,
    });
  }
  return { id: location.id, name: location.name };
}

export function recordWorkerUpdated(changes: Changes, client: Client, worker: Worker): Promise<void> {
  return recordWorker(changes, 'worker.updated', client, worker);
}

export function recordWorker(
  changes: Changes,
  type: 'worker.onboarded' | 'worker.updated',
  { instanceId }: Client,
  worker: Worker,
): Promise<void> {
  const { id, clientId } = worker;
  const data = snapshotOf(worker);
  return changes.record({ type, instanceId, clientId, entity: { type: 'worker', id }, data });
}

function snapshotOf(worker: Worker): WorkerEventData {
  return {
    workerId: worker.id,
    clientId: worker.clientId,
    firstName: worker.firstName,
    lastName: worker.lastName,
    fullName: worker.fullName,
    email: worker.email,
    phone: worker.phone,
    jobTitles: worker.jobTitles,
    location: worker.address,
    organizationUnits: worker.units,
    organizationUnit: worker.primaryUnit,
    organizationLocation: worker.location,
    createdAt: new Date(worker.createdAt).toISOString(),
    links: { self: linkToWorker(worker.clientId, worker.id) },
  };
}
