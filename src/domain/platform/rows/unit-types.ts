import type { ClientId, UnitTypeId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';

/** One layer of a client's organization. */
export interface UnitType {
  id: UnitTypeId;
  clientId: ClientId;
  name: string;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface UnitTypeRows {
  find(id: string): Promise<UnitType | undefined>;
  findByName(clientId: ClientId, name: string): Promise<UnitType | undefined>;
  page(page: PageRequest, clientId: ClientId): Promise<UnitType[]>;
  insert(unitType: UnitType): Promise<void>;
  update(unitType: UnitType): Promise<void>;
  delete(id: UnitTypeId): Promise<void>;
  hasUnits(id: UnitTypeId): Promise<boolean>;
}
