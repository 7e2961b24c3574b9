import type { ClientId } from '../../../../generated/ids.js';
import { ErrorCode, fieldRefusal, refused } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { getterOf } from '../../unit-of-work.js';
import { madeAt } from '../../version.js';
import { type PlaceFields, toAddress, updatedPlace, validateAddress } from '../addresses.js';
import { assertExpectedVersion, type Update, writeChanged } from '../changes.js';
import type { Client } from '../rows/organization.js';
import { type Changes, eventOn, linkToClient } from '../unit-of-work.js';
import { Violations } from '../violations.js';
import { getInstance } from './instances.js';
import { createBuiltInRoles } from './new-roles.js';

type Ports = Pick<Changes, 'clients' | 'instances' | 'lock' | 'now' | 'recordEvent' | 'roles' | 'touch'>;

export async function createClient(
  changes: Ports,
  creation: PlaceFields & { instanceId: string; name: string },
): Promise<Client> {
  const violations = new Violations();
  violations.requiredId('instance_id', creation.instanceId);
  violations.requiredText('name', creation.name);
  validateAddress(violations, 'address', creation.address);
  violations.throwIfAny();
  await changes.lock(creation.instanceId);
  const instance = await getInstance(changes, creation.instanceId);
  const client: Client = {
    id: newPublicId('ClientId'),
    instanceId: instance.id,
    name: creation.name.trim(),
    address: toAddress(creation.address),
    ...madeAt(changes.now),
  };
  await changes.clients.insert(client);
  await createBuiltInRoles(changes, client.id);
  await changes.touch(client.id, instance.id);
  const { id: clientId, name, address } = client;
  const data = { clientId, name, address, links: { self: linkToClient(clientId) } };
  await changes.recordEvent(eventOn(instance.id, 'client.created', data));
  return client;
}

export const getClient = getterOf('clients', ErrorCode.CLIENT_NOT_FOUND, 'client');

/** Locks and reads the client: until the commit only this write can change it. */
export async function lockClient(changes: Pick<Changes, 'clients' | 'lock'>, id: string): Promise<Client> {
  await changes.lock(id);
  return getClient(changes, id);
}

/**
 * Locks the client of a part, and reads the part again under the lock, in the version the caller expects.
 * The first read only tells which client to lock, and that never changes.
 */
export async function lockWithClient<
  Ports extends Pick<Changes, 'clients' | 'lock'>,
  Part extends { clientId: string; version: string },
>(
  changes: Ports,
  get: (changes: Ports, id: string) => Promise<Part>,
  id: string,
  { expectedVersion }: Pick<Update, 'expectedVersion'> = {},
): Promise<[client: Client, part: Part]> {
  const client = await lockClient(changes, (await get(changes, id)).clientId);
  const part = await get(changes, id);
  assertExpectedVersion(part, expectedVersion);
  return [client, part];
}

interface ClientUpdate extends PlaceFields, Update {
  clientId: string;
}

export async function updateClient(changes: Ports, update: ClientUpdate): Promise<Client> {
  const fields = await updatedPlace(update, () => changes.clients.find(update.clientId));
  const present = await lockClient(changes, update.clientId);
  assertExpectedVersion(present, update.expectedVersion);
  return writeChanged(present, fields, changes.now, async (changed) => {
    await changes.clients.update(changed);
    await changes.touch(present.id, present.instanceId);
  });
}

/** For names that are unique within a client. The client must be locked, so that the name stays free. */
export function refuseTakenName(kind: 'location' | 'unit type', holder: object | undefined): void {
  if (holder) {
    const message = `The client already has a ${kind} of this name.`;
    const violation = `is the name of another ${kind} of the client`;
    throw fieldRefusal(ErrorCode.ALREADY_EXISTS, message, 'name', violation);
  }
}

/** Integrations get all titles of a client in one answer, and its structure in another. */
const MOST_OF_A_KIND = 10_000;

/** Refuses to add so many where the client would have too many then. The client must be locked. */
export async function assertRoom(
  rows: { count(clientId: ClientId): Promise<number> },
  clientId: ClientId,
  kinds: 'job titles' | 'locations' | 'roles' | 'units' | 'unit types',
  added = 1,
): Promise<void> {
  if ((await rows.count(clientId)) + added > MOST_OF_A_KIND) {
    throw refused(`A client has at most ${MOST_OF_A_KIND} ${kinds}. Remove some first.`);
  }
}
