import type { ClientId, UnitId, UnitTypeId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';

/** One unit of a layer. */
export interface Unit {
  id: UnitId;
  clientId: ClientId;
  unitTypeId: UnitTypeId;
  name: string;
  unitCode: string | null;
  description: string | null;
  parentUnitId: UnitId | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface UnitFilter {
  unitTypeId?: string;
  parentUnitId?: string;
}

export interface UnitRows {
  find(id: string): Promise<Unit | undefined>;
  /** Those of the ids that are units of the client, in any order. */
  findAll(clientId: ClientId, ids: readonly string[]): Promise<Unit[]>;
  page(page: PageRequest, clientId: ClientId, filter: UnitFilter): Promise<Unit[]>;
  insert(unit: Unit): Promise<void>;
  update(unit: Unit): Promise<void>;
  delete(id: UnitId): Promise<void>;
}
