import type { OrganizationLocationCreatedData } from '../../../../generated/asyncapi/events.js';
import { ErrorCode } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { getterOf } from '../../unit-of-work.js';
import { madeAt } from '../../version.js';
import { type PlaceFields, toAddress, updatedPlace, validateAddress } from '../addresses.js';
import { type Update, writeChanged } from '../changes.js';
import { rewriteWorkers, workersToRewrite } from '../people/workers.js';
import type { Location } from '../rows/organization.js';
import { type Changes, eventOn, linkToOrganizationStructure } from '../unit-of-work.js';
import { Violations } from '../violations.js';
import { assertRoom, lockClient, lockWithClient, refuseTakenName } from './clients.js';

type Ports = Pick<
  Changes,
  'clients' | 'instanceId' | 'locations' | 'lock' | 'now' | 'recordEvent' | 'touch' | 'workers'
>;

export async function createLocation(
  changes: Ports,
  creation: PlaceFields & { clientId: string; name: string },
): Promise<Location> {
  const violations = new Violations();
  violations.requiredId('client_id', creation.clientId);
  violations.requiredText('name', creation.name);
  validateAddress(violations, 'address', creation.address);
  violations.throwIfAny();
  const client = await lockClient(changes, creation.clientId);
  const name = creation.name.trim();
  refuseTakenName('location', await changes.locations.findByName(client.id, name));
  const location: Location = {
    id: newPublicId('LocationId'),
    clientId: client.id,
    name,
    address: toAddress(creation.address),
    ...madeAt(changes.now),
  };
  await assertRoom(changes.locations, client.id, 'locations');
  await changes.locations.insert(location);
  await changes.touch(client.id);
  const event = eventOn(client.instanceId, 'organization_location.created', snapshotOf(location));
  await changes.recordEvent(event);
  return location;
}

export const getLocation = getterOf('locations', ErrorCode.LOCATION_NOT_FOUND, 'location');

interface LocationUpdate extends PlaceFields, Update {
  locationId: string;
}

/** Its workers show its name: they change with it, including offboarded ones. */
export async function updateLocation(changes: Ports, update: LocationUpdate): Promise<Location> {
  const fields = await updatedPlace(update, () => changes.locations.find(update.locationId));
  const [client, present] = await lockWithClient(changes, getLocation, update.locationId, update);
  return writeChanged(present, fields, changes.now, async (changed) => {
    const isRenamed = changed.name !== present.name;
    if (isRenamed) {
      refuseTakenName('location', await changes.locations.findByName(client.id, changed.name));
    }
    const workerIds = isRenamed ? await workersToRewrite(changes, client.id, { locationId: changed.id }) : [];
    await changes.locations.update(changed);
    await rewriteWorkers(changes, client, workerIds, () => ({}));
    await changes.touch(client.id);
  });
}

/** First removes the location from its workers, also offboarded ones: their records can still be read. */
export async function deleteLocation(
  changes: Ports,
  { locationId, expectedVersion }: { locationId: string; expectedVersion?: string },
): Promise<{ detachedWorkers: number }> {
  const [client, location] = await lockWithClient(changes, getLocation, locationId, { expectedVersion });
  const told = { tellsOfFormer: true };
  const workerIds = await workersToRewrite(changes, client.id, { locationId: location.id }, told);
  const data = { ...snapshotOf(location), deletedAt: new Date(changes.now).toISOString() };
  await changes.recordEvent(eventOn(client.instanceId, 'organization_location.deleted', data));
  await rewriteWorkers(changes, client, workerIds, () => ({ location: null }), told);
  await changes.locations.delete(location.id);
  await changes.touch(client.id);
  return { detachedWorkers: workerIds.length };
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
