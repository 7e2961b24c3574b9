import type { OrganizationLocationCreatedData } from '../../../../generated/asyncapi/events.js';
import { ErrorCode, existing } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import type { Address } from '../../directory/names.js';
import { newVersion } from '../../version.js';
import { type AddressInput, toAddress, validateAddress } from '../addresses.js';
import { assertExpectedVersion, changesAnything, updatedFields } from '../changes.js';
import { linkToOrganizationStructure } from '../links.js';
import { clearLocation } from '../people/worker-detachment.js';
import type { Client } from '../rows/clients.js';
import type { Location } from '../rows/locations.js';
import type { Changes } from '../unit-of-work.js';
import { MAX_NAME_LENGTH, Violations } from '../violations.js';
import { lockClient } from './clients.js';
import { refuseTakenName } from './taken-names.js';

/** What these rules use of a write. */
type Ports = Pick<Changes, 'clients' | 'locations' | 'lock' | 'now' | 'recordEvent' | 'touch' | 'workers'>;

export async function createLocation(
  changes: Ports,
  creation: { clientId: string; name: string; address?: AddressInput },
): Promise<Location> {
  validate(creation);
  const client = await lockClient(changes, creation.clientId);
  const name = creation.name.trim();
  refuseTakenName('location', await changes.locations.findByName(client.id, name));
  const location: Location = {
    id: newPublicId('LocationId'),
    clientId: client.id,
    name,
    address: toAddress(creation.address),
    version: newVersion(),
    createdAt: changes.now,
    updatedAt: changes.now,
  };
  await changes.locations.insert(location);
  await changes.touch(client.id);
  await changes.recordEvent({
    type: 'organization_location.created',
    instanceId: client.instanceId,
    clientId: client.id,
    entity: { type: 'organizationLocation', id: location.id },
    data: snapshotOf(location),
  });
  return location;
}

export async function getLocation(changes: Pick<Changes, 'locations'>, id: string): Promise<Location> {
  return existing(await changes.locations.find(id), ErrorCode.LOCATION_NOT_FOUND, 'location');
}

export interface LocationUpdate {
  locationId: string;
  name?: string;
  address?: AddressInput;
  updateMask?: readonly string[];
  expectedVersion?: string;
}

export async function updateLocation(changes: Ports, update: LocationUpdate): Promise<Location> {
  const { name, address } = updatedFields(
    { name: update.name?.trim(), address: update.address },
    update.updateMask,
    ['address'],
  );
  const earlier = address ? await changes.locations.find(update.locationId) : undefined;
  validate({ name, address: address ?? undefined }, earlier?.address);
  const { client, location: present } = await lockLocation(changes, update.locationId);
  assertExpectedVersion(present, update.expectedVersion);
  const fields = {
    ...(name && { name }),
    ...(address !== undefined && { address: toAddress(address ?? undefined) }),
  };
  if (!changesAnything<Location>(present, fields)) {
    return present;
  }
  if (name && name !== present.name) {
    refuseTakenName('location', await changes.locations.findByName(client.id, name));
  }
  const changed = { ...present, ...fields, version: newVersion(), updatedAt: changes.now };
  await changes.locations.update(changed);
  await changes.touch(client.id);
  return changed;
}

/** Its workers, including offboarded ones, lose it first, because their records are still readable. */
export async function deleteLocation(
  changes: Ports,
  { locationId, expectedVersion }: { locationId: string; expectedVersion?: string },
): Promise<{ detachedWorkers: number }> {
  const { client, location } = await lockLocation(changes, locationId);
  assertExpectedVersion(location, expectedVersion);
  await changes.recordEvent({
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

/** The client of a location never changes, so it tells what to lock; the rest is read under the lock. */
async function lockLocation(
  changes: Pick<Changes, 'clients' | 'locations' | 'lock'>,
  id: string,
): Promise<{ client: Client; location: Location }> {
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

function validate(
  { clientId, name, address }: { clientId?: string; name?: string | null; address?: AddressInput },
  earlier?: Address | null,
): void {
  const violations = new Violations();
  violations.requiredId('client_id', clientId);
  if (name !== undefined) {
    violations.requiredText('name', name ?? undefined, MAX_NAME_LENGTH);
  }
  validateAddress(violations, 'address', address, earlier);
  violations.throwIfAny();
}
