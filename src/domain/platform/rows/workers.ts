import type { NamedLocation, NamedUnit } from '../../../../generated/asyncapi/events.js';
import type { AccountId, ClientId, WorkerId } from '../../../../generated/ids.js';
import type { Address } from '../../directory/names.js';
import type { PageRequest } from '../../directory/page.js';

export type WorkerStatus = 'ACTIVE' | 'OFFBOARDED';

/** An employee or contractor of one client. */
export interface Worker {
  id: WorkerId;
  clientId: ClientId;
  accountId: AccountId;
  firstName: string;
  lastName: string;
  fullName: string;
  email: string;
  phone: string | null;
  jobTitles: string[];
  address: Address;
  /** In the order of assignment. */
  units: NamedUnit[];
  primaryUnit: NamedUnit | null;
  location: NamedLocation | null;
  offboardedAt: number | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface WorkerFilter {
  /** In one of these; in any if absent. */
  statuses?: readonly WorkerStatus[];
  unitId?: string;
  locationId?: string;
  /** All who hold the title and possibly others; the caller checks each. */
  jobTitle?: string;
}

export interface WorkerRows {
  find(id: string): Promise<Worker | undefined>;
  /** The active worker of the person at the client. */
  findActive(clientId: ClientId, accountId: AccountId): Promise<Worker | undefined>;
  page(page: PageRequest, clientId: ClientId, filter: WorkerFilter): Promise<Worker[]>;
  /** With the units. */
  insert(worker: Worker): Promise<void>;
  /** Everything but the units, except the primary one. */
  update(worker: Worker): Promise<void>;
  /** Replaces the worker's units. */
  assign(worker: Pick<Worker, 'id' | 'units'>): Promise<void>;
}
