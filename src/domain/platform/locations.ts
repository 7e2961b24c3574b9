import type { OrganizationLocationCreatedData } from '../../../generated/asyncapi/events.js';
import type { ClientId, LocationId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newPublicId } from '../../identifiers/public-id.js';
import type { Address } from '../directory/names.js';
import type { PageRequest } from '../directory/page.js';
import { newVersion } from '../version.js';
import { toAddress } from './addresses.js';
import { assertExpectedVersion, changesAnything, updatedFields } from './changes.js';
import { type Client, lockClient } from './clients.js';
import { linkToOrganizationStructure } from './links.js';
import { refuseTakenName } from './taken-names.js';
import type { Changes } from './unit-of-work.js';
import { MAX_NAME_LENGTH, Violations } from './violations.js';
import { clearLocation } from './worker-detachment.js';

/** A place where the workers of a client belong. */
export interface Location {
  id: LocationId;
  clientId: ClientId;
  name: string;
  address: Address;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface LocationRows {
  find(id: string): Promise<Location | undefined>;
  findByName(clientId: ClientId, name: string): Promise<Location | undefined>;
  page(page: PageRequest, clientId: ClientId): Promise<Location[]>;
  insert(location: Location): Promise<void>;
  update(location: Location): Promise<void>;
  delete(id: LocationId): Promise<void>;
}

export async function createLocation(
  changes: Changes,
  creation: { clientId: string; name: string },
): Promise<Location> {
  validate(creation);
  const client = await lockClient(changes, creation.clientId);
  const name = creation.name.trim();
  refuseTakenName('location', await changes.locations.findByName(client.id, name));
  const location: Location = {
    id: newPublicId('LocationId'),
    clientId: client.id,
    name,
    address: toAddress(undefined),
    version: newVersion(),
    createdAt: changes.now,
    updatedAt: changes.now,
  };
  await changes.locations.insert(location);
  await changes.touch(client.id);
  await changes.record({
    type: 'organization_location.created',
    instanceId: client.instanceId,
    clientId: client.id,
    entity: { type: 'organizationLocation', id: location.id },
    data: snapshotOf(location),
  });
  return location;
}

export async function getLocation(changes: Pick<Changes, 'locations'>, id: string): Promise<Location> {
  const location = await changes.locations.find(id);
  if (!location) {
    throw new ServiceError(ErrorCode.LOCATION_NOT_FOUND, 'There is no such location.');
  }
  return location;
}

export interface LocationUpdate {
  locationId: string;
  name?: string;
  updateMask?: readonly string[];
  expectedVersion?: string;
}

export async function updateLocation(changes: Changes, update: LocationUpdate): Promise<Location> {
  const fields = updatedFields({ name: update.name?.trim() }, update.updateMask, []);
  validate(fields);
  const { client, location: present } = await lockLocation(changes, update.locationId);
  assertExpectedVersion(present, update.expectedVersion);
  if (!fields.name || !changesAnything<Location>(present, fields)) {
    return present;
  }
  refuseTakenName('location', await changes.locations.findByName(client.id, fields.name));
  const changed = { ...present, name: fields.name, version: newVersion(), updatedAt: changes.now };
  await changes.locations.update(changed);
  await changes.touch(client.id);
  return changed;
}

/** Its workers lose it first, the offboarded ones too, because their records still answer. */
export async function deleteLocation(
  changes: Changes,
  { locationId, expectedVersion }: { locationId: string; expectedVersion?: string },
): Promise<{ detachedWorkers: number }> {
  const { client, location } = await lockLocation(changes, locationId);
  assertExpectedVersion(location, expectedVersion);
  await changes.record({
    type: 'organization_location.deleted',
    instanceId: client.instanceId,
    clientId: client.id,
    entity: { type: 'organizationLocation', id: location.id },
    data: { ...snapshotOf(location), deletedAt: new Date(changes.now).toISOString() },
  });
  const detachedWorkers = await clearLocation(changes, client, location.id);
  await changes.locations.delete(location.id);
  await changes.touch(client.id);
  return { detachedWorkers };
}

/** What it says of its client never changes, so that this tells what to lock; everything else is read behind the lock. */
async function lockLocation(changes: Changes, id: string): Promise<{ client: Client; location: Location }> {
  const { clientId } = await getLocation(changes, id);
  const client = await lockClient(changes, clientId);
  return { client, location: await getLocation(changes, id) };
}

function snapshotOf(location: Location): OrganizationLocationCreatedData {
  return {
    organizationLocationId: location.id,
    clientId: location.clientId,
    name: location.name,
    address: location.address,
    createdAt: new Date(location.createdAt).toISOString(),
    links: { self: linkToOrganizationStructure(location.clientId) },
  };
}

function validate({ name }: { name?: string | null }): void {
  const violations = new Violations();
  if (name !== undefined) {
    violations.requiredText('name', name ?? undefined, MAX_NAME_LENGTH);
  }
  violations.throwIfAny();
}
