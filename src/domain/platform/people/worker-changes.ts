import { refused } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { madeAt } from '../../version.js';
import { type AddressInput, toAddress } from '../addresses.js';
import { changesAnything, trimmed, type Update, updatedFields, writeChanged } from '../changes.js';
import { lockClient, lockWithClient } from '../organization/clients.js';
import { addTitles } from '../organization/job-titles.js';
import type { Client } from '../rows/organization.js';
import type { Worker } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { Violations } from '../violations.js';
import { accountByEmail, assertNoMember, validateEmailOfPerson } from './accounts.js';
import { refuseReplaced, updatedEmail } from './email-addresses.js';
import {
  fullNameOf,
  getWorker,
  locationNamed,
  recordWorkers,
  unitsNamed,
  validateUnits,
  validateWorkerFields,
} from './workers.js';

type Ports = Pick<
  Changes,
  'clients' | 'jobTitles' | 'locations' | 'lock' | 'now' | 'recordEvent' | 'touch' | 'units' | 'workers'
>;

type OnboardingPorts = Ports & Pick<Changes, 'accounts' | 'instanceId'>;

export interface WorkerOnboarding {
  clientId: string;
  email: string;
  firstName: string;
  lastName: string;
  phone?: string;
  jobTitles: readonly string[];
  address?: AddressInput;
  unitIds: readonly string[];
  primaryUnitId?: string;
  locationId?: string;
}

export async function onboardWorker(changes: OnboardingPorts, onboarding: WorkerOnboarding): Promise<Worker> {
  const jobTitles = onboarding.jobTitles.map((title) => title.trim());
  const fields = { ...trimmed(onboarding, 'email', 'firstName', 'lastName', 'phone'), jobTitles };
  await validateOnboarding(changes, fields);
  const account = await accountByEmail(changes, fields.email, fields);
  const client = await lockClient(changes, fields.clientId);
  if (!account.isNew) {
    await assertNoMember(changes, account.id, client, 'worker');
  }
  const units = await unitsNamed(changes, client.id, fields.unitIds);
  const { locationId, primaryUnitId = fields.unitIds[0] } = fields;
  const worker: Worker = {
    id: newPublicId('WorkerId'),
    clientId: client.id,
    accountId: account.id,
    firstName: fields.firstName,
    lastName: fields.lastName,
    fullName: fullNameOf(fields.firstName, fields.lastName),
    email: fields.email,
    phone: fields.phone ?? null,
    jobTitles: fields.jobTitles,
    address: toAddress(fields.address),
    units,
    primaryUnit: units.find(({ id }) => id === primaryUnitId) ?? null,
    location: locationId === undefined ? null : await locationNamed(changes, client.id, locationId),
    offboardedAt: null,
    ...madeAt(changes.now),
  };
  await addTitles(changes, client.id, worker.jobTitles);
  await changes.workers.insert(worker);
  await changes.touch(client.id);
  await recordWorkers(changes, 'worker.onboarded', client, [worker]);
  return worker;
}

async function validateOnboarding(changes: OnboardingPorts, onboarding: WorkerOnboarding): Promise<void> {
  const violations = new Violations();
  violations.requiredId('client_id', onboarding.clientId);
  await validateEmailOfPerson(changes, violations, onboarding.email);
  validateWorkerFields(violations, onboarding);
  validateUnits(violations, onboarding);
  violations.throwIfAny();
}

interface WorkerUpdate
  extends Update,
    Partial<Pick<WorkerOnboarding, 'firstName' | 'lastName' | 'email' | 'phone' | 'address' | 'locationId'>> {
  workerId: string;
  jobTitles: readonly string[];
}

type ChosenFields = ReturnType<typeof chosenFields>;

export async function updateWorker(changes: Ports, update: WorkerUpdate): Promise<Worker> {
  const { email: sent, ...chosen } = chosenFields(update);
  const violations = new Violations();
  violations.requiredId('worker_id', update.workerId);
  const isCompared = sent !== undefined || chosen.address !== undefined;
  const earlier = isCompared ? await changes.workers.find(update.workerId) : undefined;
  const email = await updatedEmail(violations, sent, async () => earlier);
  validateWorkerFields(violations, chosen, earlier?.address);
  violations.throwIfAny();
  const [client, present] = await lockWithClient(changes, getWorker, update.workerId, update);
  assertActive(present);
  if (email !== undefined) {
    refuseReplaced(present.email, email);
  }
  const changed = await changedBy(changes, present, { ...chosen, ...(email !== undefined && { email }) });
  return writeWorker(changes, client, present, changed);
}

export async function assignWorkerUnits(
  changes: Ports,
  assignment: {
    workerId: string;
    unitIds: readonly string[];
    primaryUnitId?: string;
    expectedVersion?: string;
  },
): Promise<Worker> {
  const violations = new Violations();
  violations.requiredId('worker_id', assignment.workerId);
  validateUnits(violations, assignment);
  violations.throwIfAny();
  const [client, present] = await lockWithClient(changes, getWorker, assignment.workerId, assignment);
  assertActive(present);
  const units = await unitsNamed(changes, client.id, assignment.unitIds);
  const primaryId = assignment.primaryUnitId ?? present.primaryUnit?.id;
  const primaryUnit = units.find(({ id }) => id === primaryId) ?? units[0] ?? null;
  if (changesAnything(present, { units })) {
    await changes.workers.assign({ id: present.id, units });
  }
  return writeWorker(changes, client, present, { units, primaryUnit });
}

/** The record keeps units and location, and stays readable at its path. Offboarding again changes nothing. */
export async function offboardWorker(
  changes: Ports,
  { workerId, expectedVersion }: { workerId: string; expectedVersion?: string },
): Promise<Worker> {
  const [client, present] = await lockWithClient(changes, getWorker, workerId, { expectedVersion });
  const offboardedAt = present.offboardedAt ?? changes.now;
  return writeWorker(changes, client, present, { offboardedAt });
}

function chosenFields(update: WorkerUpdate) {
  const jobTitles = update.jobTitles.map((title) => title.trim());
  const given = { ...trimmed(update, 'firstName', 'lastName', 'email', 'phone'), jobTitles };
  const clearable = ['phone', 'jobTitles', 'address', 'locationId'] as const;
  return updatedFields(given, ['firstName', 'lastName', 'email'], clearable);
}

/** The worker after the update; a named location must exist. */
async function changedBy(
  changes: Pick<Changes, 'jobTitles' | 'locations'>,
  present: Worker,
  { address, jobTitles, locationId, ...plain }: ChosenFields,
): Promise<Partial<Worker>> {
  const fields: Partial<Worker> = { ...plain };
  if (fields.firstName !== undefined || fields.lastName !== undefined) {
    const { firstName, lastName } = { ...present, ...fields };
    fields.fullName = fullNameOf(firstName, lastName);
  }
  if (jobTitles !== undefined) {
    fields.jobTitles = jobTitles ?? [];
    if (changesAnything(present, { jobTitles: fields.jobTitles })) {
      await addTitles(changes, present.clientId, fields.jobTitles);
    }
  }
  if (address !== undefined) {
    fields.address = toAddress(address);
  }
  if (locationId !== undefined) {
    fields.location = locationId === null ? null : await locationNamed(changes, present.clientId, locationId);
  }
  return fields;
}

async function writeWorker(
  changes: Ports,
  client: Client,
  present: Worker,
  fields: Partial<Worker>,
): Promise<Worker> {
  return writeChanged(present, fields, changes.now, async (changed) => {
    await changes.workers.update(changed);
    await changes.touch(client.id);
    await recordWorkers(changes, 'worker.updated', client, [changed]);
  });
}

function assertActive({ offboardedAt }: Worker): void {
  if (offboardedAt !== null) {
    throw refused('This worker was offboarded and cannot be changed. Onboard the person again.');
  }
}
