import type { ClientId, InstanceId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newPublicId } from '../../identifiers/public-id.js';
import type { Address } from '../directory/names.js';
import type { PageRequest } from '../directory/page.js';
import { newVersion } from '../version.js';
import { type AddressInput, toAddress, validateAddress } from './addresses.js';
import { createBuiltInRoles } from './built-in-roles.js';
import { assertExpectedVersion, changesAnything, updatedFields } from './changes.js';
import { getInstance } from './instances.js';
import { linkToClient } from './links.js';
import type { Changes } from './unit-of-work.js';
import { MAX_NAME_LENGTH, Violations } from './violations.js';

/** A tenant of an instance. */
export interface Client {
  id: ClientId;
  instanceId: InstanceId;
  name: string;
  address: Address;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface ClientRows {
  find(id: string): Promise<Client | undefined>;
  page(page: PageRequest, instanceId: string | undefined): Promise<Client[]>;
  insert(client: Client): Promise<void>;
  update(client: Client): Promise<void>;
}

export interface ClientCreation {
  instanceId: string;
  name: string;
  address?: AddressInput;
}

export async function createClient(changes: Changes, creation: ClientCreation): Promise<Client> {
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
  await changes.record({
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
  const client = await changes.clients.find(id);
  if (!client) {
    throw new ServiceError(ErrorCode.CLIENT_NOT_FOUND, 'There is no such client.');
  }
  return client;
}

/** The client, of which nothing changes any more until the commit but by this write. */
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

export async function updateClient(changes: Changes, update: ClientUpdate): Promise<Client> {
  const { name, address } = updatedFields(
    { name: update.name?.trim(), address: update.address },
    update.updateMask,
    ['address'],
  );
  validate({ name, address: address ?? undefined });
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

function validate({ name, address }: { name?: string | null; address?: AddressInput }): void {
  const violations = new Violations();
  if (name !== undefined) {
    violations.requiredText('name', name ?? undefined, MAX_NAME_LENGTH);
  }
  validateAddress(violations, 'address', address);
  violations.throwIfAny();
}
