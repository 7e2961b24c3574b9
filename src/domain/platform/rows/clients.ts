import type { ClientId, InstanceId } from '../../../../generated/ids.js';
import type { Address } from '../../directory/names.js';
import type { PageRequest } from '../../directory/page.js';

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
