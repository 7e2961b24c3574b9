import type { AccountId, ClientId } from '../../../../generated/ids.js';
import { ErrorCode, fieldRefusal } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { madeAt } from '../../version.js';
import { type AddressInput, toAddress } from '../addresses.js';
import { trimmed } from '../changes.js';
import { lockClient } from '../organization/clients.js';
import { addTitles } from '../organization/job-titles.js';
import type { Worker } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { Violations } from '../violations.js';
import { accountByEmail, validateEmailOfPerson } from './accounts.js';
import {
  fullNameOf,
  locationNamed,
  recordWorkers,
  unitsNamed,
  validateUnits,
  validateWorkerFields,
} from './workers.js';

/** What these rules use of a write. */
type Ports = Pick<
  Changes,
  | 'accounts'
  | 'clients'
  | 'instanceId'
  | 'jobTitles'
  | 'locations'
  | 'lock'
  | 'now'
  | 'recordEvent'
  | 'touch'
  | 'units'
  | 'workers'
>;

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

export async function onboardWorker(changes: Ports, onboarding: WorkerOnboarding): Promise<Worker> {
  const jobTitles = onboarding.jobTitles.map((title) => title.trim());
  const fields = { ...trimmed(onboarding, 'email', 'firstName', 'lastName', 'phone'), jobTitles };
  await validate(changes, fields);
  const account = await accountByEmail(changes, fields.email, fields);
  const client = await lockClient(changes, fields.clientId);
  if (!account.isNew) {
    await refuseSecond(changes, client.id, account.id);
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

async function validate(changes: Ports, onboarding: WorkerOnboarding): Promise<void> {
  const violations = new Violations();
  violations.requiredId('client_id', onboarding.clientId);
  await validateEmailOfPerson(changes, violations, onboarding.email);
  validateWorkerFields(violations, onboarding);
  validateUnits(violations, onboarding);
  violations.throwIfAny();
}

/** A person is one active worker of a client at a time; later they may return as another worker. */
async function refuseSecond(
  changes: Pick<Changes, 'workers'>,
  clientId: ClientId,
  accountId: AccountId,
): Promise<void> {
  if (await changes.workers.findActive(clientId, accountId)) {
    const message = 'This person is a worker of the client already.';
    const violation = 'is the address of a person who works for the client';
    throw fieldRefusal(ErrorCode.ALREADY_EXISTS, message, 'email', violation);
  }
}
