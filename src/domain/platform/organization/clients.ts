import { ErrorCode, existing } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import type { Address } from '../../directory/names.js';
import { newVersion } from '../../version.js';
import { type AddressInput, toAddress, validateAddress } from '../addresses.js';
import { assertExpectedVersion, changesAnything, updatedFields } from '../changes.js';
import { linkToClient } from '../links.js';
import type { Client } from '../rows/clients.js';
import type { Changes } from '../unit-of-work.js';
import { MAX_NAME_LENGTH, Violations } from '../violations.js';
import { createBuiltInRoles } from './built-in-roles.js';
import { getInstance } from './instances.js';

/** What these rules use of a write. */
type Ports = Pick<Changes, 'clients' | 'instances' | 'lock' | 'now' | 'recordEvent' | 'roles' | 'touch'>;

export interface ClientCreation {
  instanceId: string;
  name: string;
  address?: AddressInput;
}

export async function createClient(changes: Ports, creation: ClientCreation): Promise<Client> {
  validate(creation);
  await changes.lock(creation.instanceId);
  const instance = await getInstance(changes, creation.instanceId);
  const client: Client = {
    id: newPublicId('ClientId'),
    instanceId: instance.id,
    name: creation.name.trim(),
    address: toAddress(creation.address),
    version: newVersion(),
    createdAt: changes.now,
    updatedAt: changes.now,
  };
  await changes.clients.insert(client);
  await createBuiltInRoles(changes, client.id);
  await changes.touch(client.id, instance.id);
  await changes.recordEvent({
    type: 'client.created',
    instanceId: instance.id,
    clientId: client.id,
    entity: { type: 'client', id: client.id },
    data: {
      clientId: client.id,
      name: client.name,
      address: client.address,
      links: { self: linkToClient(client.id) },
    },
  });
  return client;
}

export async function getClient(changes: Pick<Changes, 'clients'>, id: string): Promise<Client> {
  return existing(await changes.clients.find(id), ErrorCode.CLIENT_NOT_FOUND, 'client');
}

/** The client, locked: until the commit only this write changes it. */
export async function lockClient(changes: Pick<Changes, 'clients' | 'lock'>, id: string): Promise<Client> {
  await changes.lock(id);
  return getClient(changes, id);
}

export interface ClientUpdate {
  clientId: string;
  name?: string;
  address?: AddressInput;
  updateMask?: readonly string[];
  expectedVersion?: string;
}

export async function updateClient(changes: Ports, update: ClientUpdate): Promise<Client> {
  const { name, address } = updatedFields(
    { name: update.name?.trim(), address: update.address },
    update.updateMask,
    ['address'],
  );
  const earlier = address ? await changes.clients.find(update.clientId) : undefined;
  validate({ name, address: address ?? undefined }, earlier?.address);
  await changes.lock(update.clientId);
  const present = await getClient(changes, update.clientId);
  assertExpectedVersion(present, update.expectedVersion);
  const fields = {
    ...(name && { name }),
    ...(address !== undefined && { address: toAddress(address ?? undefined) }),
  };
  if (!changesAnything<Client>(present, fields)) {
    return present;
  }
  const changed = { ...present, ...fields, version: newVersion(), updatedAt: changes.now };
  await changes.clients.update(changed);
  await changes.touch(present.id, present.instanceId);
  return changed;
}

function validate(
  { instanceId, name, address }: { instanceId?: string; name?: string | null; address?: AddressInput },
  earlier?: Address | null,
): void {
  const violations = new Violations();
  violations.requiredId('instance_id', instanceId);
  if (name !== undefined) {
    violations.requiredText('name', name ?? undefined, MAX_NAME_LENGTH);
  }
  validateAddress(violations, 'address', address, earlier);
  violations.throwIfAny();
}
