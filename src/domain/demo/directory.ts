import type { ClientId, InstanceId, LocationId, UnitId, UnitTypeId } from '../../../generated/ids.js';
import type { Address, UserStatus } from '../directory/names.js';
import { BUILT_IN_ROLES } from '../platform/organization/new-roles.js';
import type { Location, Role, Unit, UnitType } from '../platform/rows/organization.js';
import type { Account, User, Worker } from '../platform/rows/people.js';
import { demoId, demoRoleId } from './ids.js';

export interface DemoPerson extends Pick<Account, 'id' | 'workerProfileId' | 'email'> {
  firstName: string;
  lastName: string;
}

interface DemoUnit extends Pick<Unit, 'id' | 'unitTypeId' | 'name' | 'unitCode' | 'description'> {
  parentId: UnitId | null;
}

interface DemoUser extends Pick<User, 'id' | 'status' | 'managerId' | 'roleId'> {
  person: DemoPerson;
}

interface DemoWorker extends Pick<Worker, 'id' | 'jobTitles' | 'phone' | 'address'> {
  person: DemoPerson;
  locationId: LocationId | null;
  /** The first is the primary one. */
  unitIds: UnitId[];
}

export interface DemoClient {
  id: ClientId;
  instance: InstanceId;
  name: string;
  address: Address;
  roles: Pick<Role, 'id' | 'name' | 'builtIn' | 'permissions'>[];
  users: DemoUser[];
  unitTypes: Pick<UnitType, 'id' | 'name'>[];
  units: DemoUnit[];
  locations: Pick<Location, 'id' | 'name' | 'address'>[];
  jobTitles: string[];
  readonly workers: DemoWorker[];
}

interface ClientPlan extends Pick<DemoClient, 'name' | 'instance' | 'address'> {
  key: string;
  layers: readonly string[];
  /** How many units each unit has in the next layer. */
  split: readonly number[];
  unitNames: readonly string[];
  places: readonly string[];
  jobTitles: readonly string[];
  workers: number;
  users: number;
}

const STATUSES: readonly UserStatus[] = ['ACTIVE', 'ACTIVE', 'INVITED', 'INACTIVE', 'DELETED'];

/** Derives people, clients and structure from numbers, so that they are the same every time. */
export function demoClient(plan: ClientPlan, shared: readonly DemoPerson[]): DemoClient {
  const unitTypes = plan.layers.map((name) => ({ id: demoId('UnitTypeId', `${plan.key}-${name}`), name }));
  const units = unitsOf(
    plan,
    unitTypes.map(({ id }) => id),
  );
  const locations = plan.places.map((name, index) => ({
    id: demoId('LocationId', `${plan.key}-${name}`),
    name,
    address: addressAt(plan, index),
  }));
  let workers: DemoWorker[] | undefined;
  return {
    id: demoId('ClientId', plan.key),
    instance: plan.instance,
    name: plan.name,
    address: plan.address,
    roles: rolesOf(plan),
    users: usersOf(plan, shared),
    unitTypes,
    units,
    locations,
    jobTitles: [...plan.jobTitles].sort(),
    // On first use: every role of a demo knows the clients, and only the domain needs their workers.
    get workers() {
      workers ??= workersOf(plan, shared, units, locations);
      return workers;
    },
  };
}

export function demoPerson(key: string, number: number): DemoPerson {
  // Strides are coprime with the lengths, so that names repeat late.
  const firstName = firstNames[(number * 7) % firstNames.length] as string;
  const lastName = lastNames[
    (number * 11 + Math.floor(number / firstNames.length)) % lastNames.length
  ] as string;
  return {
    id: demoId('AccountId', `${key}-${number}`),
    workerProfileId: demoId('WorkerProfileId', `${key}-${number}`),
    firstName,
    lastName,
    email: `${firstName}.${lastName}.${number + 1}@${key}.example.com`.toLowerCase(),
  };
}

function rolesOf({ key }: ClientPlan): DemoClient['roles'] {
  return [
    ...BUILT_IN_ROLES.map((role) => ({
      ...role,
      id: demoRoleId(`${key}-${role.name.toLowerCase()}`),
      builtIn: true,
    })),
    {
      id: demoRoleId(`${key}-payroll`),
      name: 'Payroll clerk',
      builtIn: false,
      permissions: ['payroll:read'],
    },
  ];
}

/** The first is an Owner and the manager of the others; every status occurs. */
function usersOf(plan: ClientPlan, shared: readonly DemoPerson[]): DemoUser[] {
  const roles = rolesOf(plan);
  const ownerId = demoId('UserId', `${plan.key}-0`);
  return Array.from({ length: plan.users }, (_, index) => ({
    id: demoId('UserId', `${plan.key}-${index}`),
    person: shared[index] ?? demoPerson(`${plan.key}-office`, index),
    status: STATUSES[index % STATUSES.length] as UserStatus,
    managerId: index === 0 ? null : ownerId,
    roleId: index === 0 ? (roles[0]?.id ?? null) : (roles[index % 4]?.id ?? null),
  }));
}

function unitsOf({ key, split, unitNames }: ClientPlan, typeIds: readonly UnitTypeId[]): DemoUnit[] {
  const units: DemoUnit[] = [];
  let above: (DemoUnit | null)[] = [null];
  for (const [layer, unitTypeId] of typeIds.entries()) {
    above = above.flatMap((parent) =>
      Array.from({ length: split[layer] ?? 1 }, (_, index) => {
        const number = units.length;
        const own = unitNames[number % unitNames.length] as string;
        const unit: DemoUnit = {
          id: demoId('UnitId', `${key}-${number}`),
          unitTypeId,
          parentId: parent?.id ?? null,
          name: parent ? `${parent.name} ${index + 1}` : own,
          unitCode: layer === 0 ? `${key.slice(0, 2).toUpperCase()}-${100 + number}` : null,
          description: layer === 0 ? `Everything that belongs to ${own}` : null,
        };
        units.push(unit);
        return unit;
      }),
    );
  }
  return units;
}

function workersOf(
  plan: ClientPlan,
  shared: readonly DemoPerson[],
  units: readonly DemoUnit[],
  locations: DemoClient['locations'],
): DemoWorker[] {
  const leaves = units.filter(({ unitTypeId }) => unitTypeId === units.at(-1)?.unitTypeId);
  return Array.from({ length: plan.workers }, (_, index) => {
    const titles = [plan.jobTitles[index % plan.jobTitles.length] as string];
    const second = plan.jobTitles[(index * 5 + 1) % plan.jobTitles.length] as string;
    const unitIds = [leaves[index % leaves.length], leaves[(index * 3 + 1) % leaves.length]].map(
      (unit) => unit?.id as UnitId,
    );
    return {
      id: demoId('WorkerId', `${plan.key}-${index}`),
      person: shared[index] ?? demoPerson(plan.key, index),
      jobTitles: index % 6 === 0 && second !== titles[0] ? [...titles, second] : titles,
      phone: index % 4 === 3 ? null : `+1 207 555 ${String(100 + (index % 100)).padStart(4, '0')}`,
      address: addressAt(plan, index),
      locationId: index % 10 === 9 ? null : (locations[index % locations.length]?.id ?? null),
      unitIds: index % 5 === 0 ? [...new Set(unitIds)] : unitIds.slice(0, 1),
    };
  });
}

function addressAt({ address }: ClientPlan, number: number): Address {
  return {
    ...address,
    address1: `${(number % 90) + 1} ${STREETS[number % STREETS.length]}`,
    address2: number % 7 === 0 ? `Apartment ${(number % 30) + 1}` : null,
  };
}

/** Names for invented people, from many places. */
const firstNames: readonly string[] =
  `Maren Eliseo Priya Tomasz Amara Henrik Yuki Leila Owen Sunniva Mateus Ines Dario Naledi Bram Freya Kofi
  Zofia Ravi Elin Joaquin Mirela Anselm Thandi Niko Odette Samir Greta Linus Paloma Ewan Hana`.split(/\s+/);

const lastNames: readonly string[] =
  `Okafor Brandt Lindqvist Marchetti Delacroix Novak Tanaka Haddad Ferreira Kowalski Nilsen Abara Castellan
  Dvorak Ashgrove Petrov Quintero Bergmann Achterberg Mensah Thornbury Vasquez Ilves Sandoval Yilmaz
  Corrigan Halloran Iversen Moreau Palmgren Rosales`.split(/\s+/);

const STREETS = [
  'Harbour Street',
  'Larch Lane',
  'Mill Road',
  'Station Square',
  'Orchard Row',
  'Chapel Hill',
  'Ferry Walk',
] as const;
