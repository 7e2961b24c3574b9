import type { AccountId } from '../../../generated/ids.js';
import { createClient, updateClient } from '../../../src/domain/platform/organization/clients.js';
import {
  addJobTitle,
  removeJobTitle,
  renameJobTitle,
} from '../../../src/domain/platform/organization/job-titles.js';
import {
  createLocation,
  deleteLocation,
  updateLocation,
} from '../../../src/domain/platform/organization/locations.js';
import { editRolePermissions } from '../../../src/domain/platform/organization/roles.js';
import {
  createUnitType,
  deleteUnitType,
  updateUnitType,
} from '../../../src/domain/platform/organization/unit-types.js';
import { createUnit, deleteUnit, updateUnit } from '../../../src/domain/platform/organization/units.js';
import { takeEmail } from '../../../src/domain/platform/people/email-changes.js';
import {
  deleteUser,
  disableUser,
  enableUser,
  updateUser,
} from '../../../src/domain/platform/people/user-updates.js';
import { createUser, getUser } from '../../../src/domain/platform/people/users.js';
import {
  assignWorkerUnits,
  offboardWorker,
  onboardWorker,
  updateWorker,
} from '../../../src/domain/platform/people/worker-changes.js';
import type { Changes, PlatformUnitOfWork } from '../../../src/domain/platform/unit-of-work.js';
import { ServiceError } from '../../../src/errors/service-error.js';
import type { Database } from '../../../src/store/database.js';

/** Operations of the platform that change what integrations read, by their names in the contract. */
const OPERATIONS = {
  ...{ createClient, updateClient },
  ...{ addJobTitle, renameJobTitle, removeJobTitle },
  ...{ createLocation, updateLocation, deleteLocation },
  ...{ createUnitType, updateUnitType, deleteUnitType },
  ...{ createUnit, updateUnit, deleteUnit },
  ...{ onboardWorker, updateWorker, assignWorkerUnits, offboardWorker },
  ...{ createUser, updateUser, enableUser, disableUser, deleteUser },
  editRolePermissions,
  /** The address takes effect at once, with or without a proof. */
  updateAccount: async (changes: Changes, { accountId, email, isProved }: Proved) => {
    await changes.lock(accountId);
    await takeEmail(changes, accountId as AccountId, email, { isProved });
  },
  activateUser,
};

interface Proved {
  accountId: string;
  email: string;
  isProved: boolean;
}

/** The first sign-in does it, and no operation. An INVITED user can be neither enabled nor disabled. */
async function activateUser(changes: Changes, { userId }: { userId: string }): Promise<void> {
  const { clientId } = await getUser(changes, userId);
  await changes.lock(clientId);
  const user = await getUser(changes, userId);
  if (user.status === 'INVITED') {
    await changes.users.update({ id: user.id, status: 'ACTIVE', knownEmail: null });
  }
}

type Operation = keyof typeof OPERATIONS;

/** A write, as its operation takes it. */
export interface Wish {
  name: string;
  operation: Operation;
  request: object;
}

type Wanted = Omit<Wish, 'name'>;

/** Chooses a random row of the instance. */
interface Choice {
  text(kind: string): string;
  among<T>(values: readonly T[]): T;
  id(table: IdTable): Promise<string>;
  /** Of the client of a worker or user. */
  idBeside(other: string, table: ClientTable): Promise<string>;
  titleOf(clientId: string): Promise<string>;
}

type ClientTable = 'locations' | 'roles' | 'unit_types' | 'units' | 'users' | 'workers';
type IdTable = ClientTable | 'accounts' | 'clients';

/** Every kind of write. */
const WISHES: Record<string, (instanceId: string, choice: Choice) => Promise<Wanted>> = {
  createClient: async (instanceId, { text }) => {
    const creation = { instanceId, name: text('Client') };
    return wanted('createClient', creation);
  },
  updateClient: async (_, { id, text }) => {
    const update = { clientId: await id('clients'), name: text('Client'), address: { city: text('City') } };
    return wanted('updateClient', update);
  },
  addJobTitle: async (_, { id, text }) => {
    const title = { clientId: await id('clients'), title: text('Title') };
    return wanted('addJobTitle', title);
  },
  renameJobTitle: async (_, { id, titleOf, text }) => {
    const clientId = await id('clients');
    const renaming = { clientId, title: await titleOf(clientId), newTitle: text('Title') };
    return wanted('renameJobTitle', renaming);
  },
  removeJobTitle: async (_, { id, titleOf }) => {
    const clientId = await id('clients');
    const removal = { clientId, title: await titleOf(clientId) };
    return wanted('removeJobTitle', removal);
  },
  createLocation: async (_, { id, text }) => {
    const creation = { clientId: await id('clients'), name: text('Location') };
    return wanted('createLocation', creation);
  },
  updateLocation: async (_, { id, text }) => {
    const update = { locationId: await id('locations'), name: text('Location') };
    return wanted('updateLocation', update);
  },
  deleteLocation: async (_, { id }) => {
    const locationId = await id('locations');
    return wanted('deleteLocation', { locationId });
  },
  createUnitType: async (_, { id, text, among }) => {
    const units = [{ name: text('Unit'), subUnits: [{ name: text('Unit'), subUnits: [] }] }];
    // One with units cannot be deleted.
    const creation = { clientId: await id('clients'), name: text('Type'), units: among([[], units]) };
    return wanted('createUnitType', creation);
  },
  updateUnitType: async (_, { id, text }) => {
    const update = { unitTypeId: await id('unit_types'), name: text('Type') };
    return wanted('updateUnitType', update);
  },
  deleteUnitType: async (_, { id }) => {
    const unitTypeId = await id('unit_types');
    return wanted('deleteUnitType', { unitTypeId });
  },
  createUnit: async (_, { id, text }) => {
    const creation = { unitTypeId: await id('unit_types'), name: text('Unit'), subUnits: [] };
    return wanted('createUnit', creation);
  },
  updateUnit: async (_, { id, text }) => {
    const update = { unitId: await id('units'), name: text('Unit'), description: text('Description') };
    return wanted('updateUnit', update);
  },
  deleteUnit: async (_, { id }) => {
    const unitId = await id('units');
    return wanted('deleteUnit', { unitId });
  },
  onboardWorker: async (_, { id, text, titleOf }) => {
    const clientId = await id('clients');
    const onboarding = {
      clientId,
      email: `${text('worker')}@example.com`,
      firstName: text('First'),
      lastName: text('Last'),
      jobTitles: [await titleOf(clientId)].filter(Boolean),
      unitIds: [],
    };
    return wanted('onboardWorker', onboarding);
  },
  updateWorker: async (_, { id, text }) => {
    const update = { workerId: await id('workers'), firstName: text('First'), jobTitles: [] };
    return wanted('updateWorker', update);
  },
  placeWorker: async (_, { id, idBeside }) => {
    const workerId = await id('workers');
    const placement = { workerId, jobTitles: [], locationId: await idBeside(workerId, 'locations') };
    return wanted('updateWorker', { ...placement, updateMask: ['location_id'] });
  },
  assignWorkerUnits: async (_, { id, idBeside, among }) => {
    const workerId = await id('workers');
    const unitIds = [await idBeside(workerId, 'units')].slice(0, among([0, 1, 1, 1]));
    const assignment = { workerId, unitIds };
    return wanted('assignWorkerUnits', assignment);
  },
  offboardWorker: async (_, { id }) => {
    const workerId = await id('workers');
    return wanted('offboardWorker', { workerId });
  },
  createUser: async (_, { id, text }) => {
    const email = `${text('user')}@example.com`;
    const creation = {
      clientId: await id('clients'),
      email,
      firstName: text('First'),
      withoutManager: false,
    };
    return wanted('createUser', creation);
  },
  updateUser: async (_, { id, text }) => {
    const update = { userId: await id('users'), lastName: text('Last') };
    return wanted('updateUser', update);
  },
  moveUser: async (_, { id, idBeside }) => {
    const userId = await id('users');
    const update = { userId, managerUserId: await idBeside(userId, 'users') };
    return wanted('updateUser', update);
  },
  giveRole: async (_, { id, idBeside }) => {
    const userId = await id('users');
    const update = { userId, roleId: await idBeside(userId, 'roles') };
    return wanted('updateUser', update);
  },
  activateUser: async (_, { id }) => {
    const userId = await id('users');
    return wanted('activateUser', { userId });
  },
  enableUser: async (_, { id }) => {
    const userId = await id('users');
    return wanted('enableUser', { userId });
  },
  disableUser: async (_, { id }) => {
    const userId = await id('users');
    return wanted('disableUser', { userId });
  },
  deleteUser: async (_, { id }) => {
    const userId = await id('users');
    return wanted('deleteUser', { userId });
  },
  takeEmail: async (_, { id, text, among }) => {
    return wanted('updateAccount', {
      accountId: await id('accounts'),
      email: `${text('moved')}@example.com`,
      isProved: among([false, true, true]),
    });
  },
  editRole: async (_, { id, text }) => {
    const edit = {
      roleId: await id('roles'),
      permissions: [text('permission')],
      name: text('Role'),
      userIds: [],
    };
    return wanted('editRolePermissions', edit);
  },
};

function wanted<Name extends Operation>(
  operation: Name,
  request: Parameters<(typeof OPERATIONS)[Name]>[1],
): Wanted {
  return { operation, request };
}

/** The names of all kinds of writes. */
export const KINDS_OF_WRITES = Object.keys(WISHES);

/** Few clients, so that each has rows of every kind. */
const WRITES_FOR_A_CLIENT = 50;

/** Chooses writes of all kinds to rows of the instance that its database has at that moment. */
export class RandomWrites {
  readonly #choice: Choice;
  #count = 0;

  constructor(
    database: Database,
    private readonly instanceId: string,
    random: () => number,
    /** Clients that are left alone. */
    except: readonly string[] = [],
  ) {
    const writer = Math.floor(random() * 1e9).toString(36);
    const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    let texts = 0;
    this.#choice = {
      among,
      text: (kind) => {
        texts += 1;
        return `${kind}-${writer}-${texts}`;
      },
      id: async (table) => among(await idsOf(database, table, { instanceId, except })) ?? 'none',
      idBeside: async (other, table) => {
        const clientId = await clientOf(database, other);
        const { reader } = database;
        const rows = await reader.selectFrom(table).where('client_id', '=', clientId).select('id').execute();
        return among(rows)?.id ?? 'none';
      },
      titleOf: async (clientId) => {
        const titles = database.reader.selectFrom('job_titles').where('client_id', '=', clientId);
        return among(await titles.select('title').execute())?.title ?? '';
      },
    };
  }

  /** Of these kinds, and now and then a client. */
  next(kinds: readonly string[] = KINDS_OF_WRITES): Promise<Wish> {
    const isClient = this.#count % WRITES_FOR_A_CLIENT === 0;
    this.#count += 1;
    const others = kinds.filter((name) => name !== 'createClient');
    return this.named(isClient ? 'createClient' : this.#choice.among(others));
  }

  async named(name: string): Promise<Wish> {
    const wish = WISHES[name] as (typeof WISHES)[string];
    return { name, ...(await wish(this.instanceId, this.#choice)) };
  }
}

/** Does it within a transaction of the platform. */
export function carriedOut(changes: Changes, { operation, request }: Wish): Promise<unknown> {
  return OPERATIONS[operation](changes, request as never);
}

interface RandomChoice {
  instanceId: string;
  times: number;
  random: () => number;
  /** Of these kinds, one as likely as it is often in the list. */
  kinds?: readonly string[] | undefined;
}

/**
 * Writes to the instance at random. Writes that are refused, such as one of a row that another writer has
 * removed meanwhile, are among them.
 */
export async function writeAtRandom(
  database: Database,
  { run }: Pick<PlatformUnitOfWork, 'run'>,
  { instanceId, times, random, kinds }: RandomChoice,
): Promise<{ done: Set<string> }> {
  const writes = new RandomWrites(database, instanceId, random);
  const done = new Set<string>();
  for (let time = 0; time < times; time += 1) {
    const wish = await writes.next(kinds);
    try {
      await run((changes) => carriedOut(changes, wish));
      done.add(wish.name);
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        throw error;
      }
    }
  }
  return { done };
}

async function clientOf({ reader }: Database, id: string): Promise<string> {
  const table = id.startsWith('wrk_') ? 'workers' : 'users';
  const row = await reader.selectFrom(table).where('id', '=', id).select('client_id').executeTakeFirst();
  return row?.client_id ?? 'none';
}

async function idsOf(
  { reader }: Database,
  table: IdTable,
  { instanceId, except }: { instanceId: string; except: readonly string[] },
): Promise<string[]> {
  if (table === 'accounts') {
    return (await reader.selectFrom('accounts').select('id').execute()).map(({ id }) => id);
  }
  const all = reader.selectFrom('clients').where('instance_id', '=', instanceId).select('id');
  const clients = except.length === 0 ? all : all.where('id', 'not in', except);
  if (table === 'clients') {
    return (await clients.execute()).map(({ id }) => id);
  }
  const rows = await reader.selectFrom(table).where('client_id', 'in', clients).select('id').execute();
  return rows.map(({ id }) => id);
}
