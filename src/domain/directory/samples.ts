import { exampleEvents } from '../../../generated/asyncapi/examples.js';
import type { UnitTypeId } from '../../../generated/ids.js';
import { type BodyOf, type JsonOf, jsonOf, type Schemas } from './contract-json.js';

/** The operations that `links.self` of events lead to. */
export type LinkedOperation = 'getClient' | 'getUser' | 'getWorkerV2' | 'getOrganizationStructure';

interface Named {
  clientId: string;
  userId: string;
  workerId: string;
}

const { clientId, name, address } = exampleEvents['client.created'].data;
const { links: _, ...user } = exampleEvents['user.updated'].data;
const worker = exampleEvents['worker.updated'].data;
const unit = exampleEvents['organization_unit.created'].data;
const unitType = exampleEvents['organization_unit_type.created'].data;
const location = exampleEvents['organization_location.created'].data;

const workerRecord: Schemas['WorkerV2'] = {
  id: worker.workerId,
  firstName: worker.firstName,
  lastName: worker.lastName,
  fullName: worker.fullName,
  email: worker.email,
  jobTitles: worker.jobTitles,
  phone: worker.phone,
  location: worker.location,
  organizationUnits: worker.organizationUnits,
  organizationUnit: worker.organizationUnit,
  organizationLocation: worker.organizationLocation,
  offboardedAt: worker.offboardedAt ?? null,
};

function unitOf(
  { organizationUnitId: id, name, description, parentUnit }: (typeof unitType)['units'][number],
  unitTypeId: UnitTypeId,
): Schemas['OrganizationStructure']['units'][number] {
  return { id, name, description, unitTypeId, parentUnitId: parentUnit?.id ?? null };
}

const structure: Schemas['OrganizationStructure'] = {
  unitsTypes: [{ id: unitType.organizationUnitTypeId, name: unitType.name }, unit.unitType],
  units: [
    ...unitType.units.map((embedded) => unitOf(embedded, unitType.organizationUnitTypeId)),
    unitOf(unit, unit.unitType.id),
  ],
  locations: [{ id: location.organizationLocationId, name: location.name }],
};

const texts: { readonly [Id in LinkedOperation]: JsonOf<BodyOf<Id>> } = {
  getClient: jsonOf<Schemas['TenantClient']>({ id: clientId, name, location: address }),
  getUser: jsonOf<Schemas['User']>(user),
  getWorkerV2: jsonOf(workerRecord),
  getOrganizationStructure: jsonOf(structure),
};

/** The samples of the contract, which are the data of test events: their links lead here. */
export function sampleOf<Id extends LinkedOperation>(
  operationId: Id,
  named: Named,
): JsonOf<BodyOf<Id>> | undefined {
  const isSample =
    named.clientId === clientId &&
    (operationId !== 'getUser' || named.userId === user.userId) &&
    (operationId !== 'getWorkerV2' || named.workerId === worker.workerId);
  return isSample ? texts[operationId] : undefined;
}
