import type { ClientId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';

/** Permissions of users of a client. Roles have no public id. */
export interface Role {
  id: string;
  clientId: ClientId;
  name: string;
  /** Made with the client, and immutable. */
  builtIn: boolean;
  /** In the terms of the platform. */
  permissions: string[];
  version: string;
  createdAt: number;
}

export interface RoleRows {
  find(id: string): Promise<Role | undefined>;
  /** Built-in roles first. */
  page(page: PageRequest, clientId: ClientId): Promise<Role[]>;
  names(clientId: ClientId): Promise<Set<string>>;
  /** The built-in role Owner. */
  ownerOf(clientId: ClientId): Promise<string | undefined>;
  insert(role: Role): Promise<void>;
  delete(id: string): Promise<void>;
}
