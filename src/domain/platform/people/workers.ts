import type { NamedUnit, WorkerEventData } from '../../../../generated/asyncapi/events.js';
import type { ClientId, LocationId, WorkerId } from '../../../../generated/ids.js';
import { ErrorCode, fieldRefusal } from '../../../errors/service-error.js';
import type { Address } from '../../directory/names.js';
import { getterOf } from '../../unit-of-work.js';
import { newVersion } from '../../version.js';
import { type AddressInput, validateAddress } from '../addresses.js';
import { BATCH_ROWS } from '../changes.js';
import { assertFewWorkersChange } from '../instance-limit.js';
import type { Client } from '../rows/organization.js';
import type { Worker, WorkerFilter, WorkerRewrite } from '../rows/people.js';
import { type Changes, eventOn, linkToWorker } from '../unit-of-work.js';
import { Violations } from '../violations.js';
import { contractEmailOf } from './email-addresses.js';

export const getWorker = getterOf('workers', ErrorCode.WORKER_NOT_FOUND, 'worker');

/** The units of the client with these ids, in their order. */
export async function unitsNamed(
  changes: Pick<Changes, 'units'>,
  clientId: ClientId,
  unitIds: readonly string[],
): Promise<NamedUnit[]> {
  const found = new Map(
    (await changes.units.findAll(clientId, unitIds)).map((unit) => [unit.id as string, unit]),
  );
  const violations = new Violations();
  const named = unitIds.flatMap((unitId, index) => {
    const unit = found.get(unitId);
    if (!unit) {
      violations.add(`unit_ids[${index}]`, 'is no unit of the client');
      return [];
    }
    return [{ id: unit.id, name: unit.name }];
  });
  violations.throwIfAny(ErrorCode.UNIT_NOT_FOUND, 'The client has no such unit.');
  return named;
}

/** The location of the client with this id. */
export async function locationNamed(
  changes: Pick<Changes, 'locations'>,
  clientId: ClientId,
  locationId: string,
): Promise<{ id: LocationId; name: string }> {
  const location = await changes.locations.find(locationId);
  if (location?.clientId !== clientId) {
    const message = 'The client has no such location.';
    throw fieldRefusal(ErrorCode.LOCATION_NOT_FOUND, message, 'location_id', 'is no location of the client');
  }
  return { id: location.id, name: location.name };
}

export function recordWorkers(
  changes: Pick<Changes, 'recordEvent'>,
  type: 'worker.onboarded' | 'worker.updated',
  client: Client,
  workers: readonly Worker[],
): Promise<void> {
  return changes.recordEvent(
    ...workers.map((worker) => eventOn(client.instanceId, type, workerData(worker))),
  );
}

/** All whom the filter finds, including offboarded ones, oldest first. The client must be locked. */
export async function workersToRewrite(
  changes: Pick<Changes, 'instanceId' | 'workers'>,
  clientId: ClientId,
  filter: Omit<WorkerFilter, 'statuses'>,
  told: { tellsOfFormer?: boolean } = {},
): Promise<WorkerId[]> {
  await assertFewWorkersChange(changes, (limit) =>
    changes.workers.eventBytesUpTo(limit, clientId, filter, told),
  );
  return changes.workers.ids(clientId, filter);
}

type RewriteOf = (worker: Worker) => Omit<WorkerRewrite, 'id' | 'version' | 'updatedAt'>;

/** Changes fields of these workers, and returns the changed workers. */
export async function rewriteBatch<Each extends Worker>(
  { workers, now }: Pick<Changes, 'now' | 'workers'>,
  batch: readonly Each[],
  changeOf: RewriteOf,
): Promise<Each[]> {
  const rewrites = batch.map((worker) => {
    return { ...changeOf(worker), id: worker.id, version: newVersion(), updatedAt: now };
  });
  await workers.rewrite(rewrites);
  return batch.map((worker, index) => ({ ...worker, ...rewrites[index] }));
}

/**
 * Changes fields of these workers, or with `{}` only their version where what they show has changed. Those
 * who were offboarded have events only if the write tells of former workers, because receivers must not get
 * their data again. The caller gives the client its new version, once for all of them.
 */
export async function rewriteWorkers(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'workers'>,
  client: Client,
  ids: readonly WorkerId[],
  changeOf: RewriteOf,
  { tellsOfFormer = false } = {},
): Promise<void> {
  for (let from = 0; from < ids.length; from += BATCH_ROWS) {
    const batch = await changes.workers.findAll(client.id, ids.slice(from, from + BATCH_ROWS));
    const rewritten = await rewriteBatch(changes, batch, changeOf);
    const told = rewritten.filter(({ offboardedAt }) => tellsOfFormer || offboardedAt === null);
    await recordWorkers(changes, 'worker.updated', client, told);
  }
}

export function workerData(worker: Worker): WorkerEventData {
  return {
    workerId: worker.id,
    clientId: worker.clientId,
    firstName: worker.firstName,
    lastName: worker.lastName,
    fullName: worker.fullName,
    email: contractEmailOf(worker.email),
    phone: worker.phone,
    jobTitles: worker.jobTitles,
    location: worker.address,
    organizationUnits: worker.units,
    organizationUnit: worker.primaryUnit,
    organizationLocation: worker.location,
    offboardedAt: worker.offboardedAt === null ? null : new Date(worker.offboardedAt).toISOString(),
    createdAt: new Date(worker.createdAt).toISOString(),
    links: { self: linkToWorker(worker.clientId, worker.id) },
  };
}

const MAX_PHONE_LENGTH = 50;
const MAX_JOB_TITLES = 100;
const MAX_UNITS = 100;

/** The fields of a request: undefined was not sent, null clears the field. */
interface WorkerFields {
  firstName?: string;
  lastName?: string;
  phone?: string | null;
  jobTitles?: readonly string[] | null;
  address?: AddressInput | null;
}

/** Validates the fields that are present, except the e-mail address. */
export function validateWorkerFields(
  violations: Violations,
  fields: WorkerFields,
  earlier?: Address | null,
): void {
  violations.givenText('first_name', fields.firstName);
  violations.givenText('last_name', fields.lastName);
  violations.givenText('phone', fields.phone, MAX_PHONE_LENGTH);
  const titles = violations.requiredTexts(MAX_JOB_TITLES, 'job_titles', fields.jobTitles ?? []);
  violations.distinctItems('job_titles', titles);
  validateAddress(violations, 'address', fields.address, earlier);
}

export function validateUnits(
  violations: Violations,
  { unitIds, primaryUnitId }: { unitIds: readonly string[]; primaryUnitId?: string },
): void {
  violations.distinctItems('unit_ids', violations.listOfAtMost(MAX_UNITS, 'unit_ids', unitIds));
  if (primaryUnitId !== undefined && !unitIds.includes(primaryUnitId)) {
    violations.add('primary_unit_id', 'must be one of unit_ids');
  }
}

export function fullNameOf(firstName: string, lastName: string): string {
  return `${firstName} ${lastName}`;
}
