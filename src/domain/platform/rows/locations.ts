import type { ClientId, LocationId } from '../../../../generated/ids.js';
import type { Address } from '../../directory/names.js';
import type { PageRequest } from '../../directory/page.js';

/** A place to which workers of a client belong. */
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
