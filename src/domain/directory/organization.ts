import type { ClientId, InstanceIntegrationId, UnitId, UnitTypeId } from '../../../generated/ids.js';
import type { Gatekeeper } from '../access/gatekeeper.js';
import { type Answer, answer, type Question } from './answer.js';
import type { Named } from './names.js';

/** The layers of a client, the units in them, and its locations. */
export interface OrganizationStructure {
  unitTypes: Named[];
  units: Unit[];
  locations: Named[];
}

export interface Unit {
  id: UnitId;
  name: string;
  description: string | null;
  unitTypeId: UnitTypeId;
  parentUnitId: UnitId | null;
}

export interface OrganizationStore {
  /** All of it, each list oldest first. */
  structureOf(clientId: ClientId): Promise<OrganizationStructure>;
  /** In byte order. */
  jobTitlesOf(clientId: ClientId): Promise<string[]>;
}

export async function getOrganizationStructure(
  gatekeeper: Gatekeeper,
  organization: OrganizationStore,
  question: Question,
  instanceIntegration: InstanceIntegrationId,
  clientId: ClientId,
): Promise<Answer<OrganizationStructure>> {
  const visitor = await gatekeeper.admitToClient(question, instanceIntegration, clientId);
  return answer(visitor, question, () => organization.structureOf(visitor.clientId));
}

export async function listJobTitles(
  gatekeeper: Gatekeeper,
  organization: OrganizationStore,
  question: Question,
  instanceIntegration: InstanceIntegrationId,
  clientId: ClientId,
): Promise<Answer<string[]>> {
  const visitor = await gatekeeper.admitToClient(question, instanceIntegration, clientId);
  return answer(visitor, question, () => organization.jobTitlesOf(visitor.clientId));
}
