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
import { editRolePermissions } from '../../../src/domain/platform/organization/role-edits.js';
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
  updateWorker,
} from '../../../src/domain/platform/people/worker-changes.js';
import { onboardWorker } from '../../../src/domain/platform/people/worker-onboarding.js';
import type { Changes, PlatformUnitOfWork } from '../../../src/domain/platform/unit-of-work.js';
import { ServiceError } from '../../../src/errors/service-error.js';
import type { Database } from '../../../src/store/database.js';

type Write = (changes: Changes) => Promise<unknown>;

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

/** Every write of the platform that changes what integrations read. */
const WRITES: Record<string, (instanceId: string, choice: Choice) => Promise<Write>> = {
  createClient: async (instanceId, { text }) => {
    const creation = { instanceId, name: text('Client') };
    return (changes) => createClient(changes, creation);
  },
  updateClient: async (_, { id, text }) => {
    const update = { clientId: await id('clients'), name: text('Client'), address: { city: text('City') } };
    return (changes) => updateClient(changes, update);
  },
  addJobTitle: async (_, { id, text }) => {
    const title = { clientId: await id('clients'), title: text('Title') };
    return (changes) => addJobTitle(changes, title);
  },
  renameJobTitle: async (_, { id, titleOf, text }) => {
    const clientId = await id('clients');
    const renaming = { clientId, title: await titleOf(clientId), newTitle: text('Title') };
    return (changes) => renameJobTitle(changes, renaming);
  },
  removeJobTitle: async (_, { id, titleOf }) => {
    const clientId = await id('clients');
    const removal = { clientId, title: await titleOf(clientId) };
    return (changes) => removeJobTitle(changes, removal);
  },
  createLocation: async (_, { id, text }) => {
    const creation = { clientId: await id('clients'), name: text('Location') };
    return (changes) => createLocation(changes, creation);
  },
  updateLocation: async (_, { id, text }) => {
    const update = { locationId: await id('locations'), name: text('Location') };
    return (changes) => updateLocation(changes, update);
  },
  deleteLocation: async (_, { id }) => {
    const locationId = await id('locations');
    return (changes) => deleteLocation(changes, { locationId });
  },
  createUnitType: async (_, { id, text, among }) => {
    const units = [{ name: text('Unit'), subUnits: [{ name: text('Unit'), subUnits: [] }] }];
    // One with units cannot be deleted.
    const creation = { clientId: await id('clients'), name: text('Type'), units: among([[], units]) };
    return (changes) => createUnitType(changes, creation);
  },
  updateUnitType: async (_, { id, text }) => {
    const update = { unitTypeId: await id('unit_types'), name: text('Type') };
    return (changes) => updateUnitType(changes, update);
  },
  deleteUnitType: async (_, { id }) => {
    const unitTypeId = await id('unit_types');
    return (changes) => deleteUnitType(changes, { unitTypeId });
  },
  createUnit: async (_, { id, text }) => {
    const creation = { unitTypeId: await id('unit_types'), name: text('Unit'), subUnits: [] };
    return (changes) => createUnit(changes, creation);
  },
  updateUnit: async (_, { id, text }) => {
    const update = { unitId: await id('units'), name: text('Unit'), description: text('Description') };
    return (changes) => updateUnit(changes, update);
  },
  deleteUnit: async (_, { id }) => {
    const unitId = await id('units');
    return (changes) => deleteUnit(changes, { unitId });
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
    return (changes) => onboardWorker(changes, onboarding);
  },
  updateWorker: async (_, { id, text }) => {
    const update = { workerId: await id('workers'), firstName: text('First'), jobTitles: [] };
    return (changes) => updateWorker(changes, update);
  },
  placeWorker: async (_, { id, idBeside }) => {
    const workerId = await id('workers');
    const placement = { workerId, jobTitles: [], locationId: await idBeside(workerId, 'locations') };
    return (changes) => updateWorker(changes, { ...placement, updateMask: ['location_id'] });
  },
  assignWorkerUnits: async (_, { id, idBeside, among }) => {
    const workerId = await id('workers');
    const unitIds = [await idBeside(workerId, 'units')].slice(0, among([0, 1, 1, 1]));
    const assignment = { workerId, unitIds };
    return (changes) => assignWorkerUnits(changes, assignment);
  },
  offboardWorker: async (_, { id }) => {
    const workerId = await id('workers');
    return (changes) => offboardWorker(changes, { workerId });
  },
  createUser: async (_, { id, text }) => {
    const email = `${text('user')}@example.com`;
    const creation = {
      clientId: await id('clients'),
      email,
      firstName: text('First'),
      withoutManager: false,
    };
    return (changes) => createUser(changes, creation);
  },
  updateUser: async (_, { id, text }) => {
    const update = { userId: await id('users'), lastName: text('Last') };
    return (changes) => updateUser(changes, update);
  },
  moveUser: async (_, { id, idBeside }) => {
    const userId = await id('users');
    const update = { userId, managerUserId: await idBeside(userId, 'users') };
    return (changes) => updateUser(changes, update);
  },
  giveRole: async (_, { id, idBeside }) => {
    const userId = await id('users');
    const update = { userId, roleId: await idBeside(userId, 'roles') };
    return (changes) => updateUser(changes, update);
  },
  /** As the first sign-in does. An INVITED user can be neither enabled nor disabled. */
  activateUser: async (_, { id }) => {
    const userId = await id('users');
    return async (changes) => {
      const { clientId } = await getUser(changes, userId);
      await changes.lock(clientId);
      const user = await getUser(changes, userId);
      if (user.status === 'INVITED') {
        await changes.users.update({ ...user, status: 'ACTIVE' });
      }
    };
  },
  enableUser: async (_, { id }) => {
    const userId = await id('users');
    return (changes) => enableUser(changes, { userId });
  },
  disableUser: async (_, { id }) => {
    const userId = await id('users');
    return (changes) => disableUser(changes, { userId });
  },
  deleteUser: async (_, { id }) => {
    const userId = await id('users');
    return (changes) => deleteUser(changes, { userId });
  },
  takeEmail: async (_, { id, text }) => {
    const accountId = (await id('accounts')) as never;
    const email = `${text('moved')}@example.com`;
    return async (changes) => {
      await changes.lock(accountId);
      await takeEmail(changes, accountId, email, null);
    };
  },
  editRole: async (_, { id, text }) => {
    const edit = {
      roleId: await id('roles'),
      permissions: [text('permission')],
      name: text('Role'),
      userIds: [],
    };
    return (changes) => editRolePermissions(changes, edit);
  },
};

/** The names of all kinds of writes. */
export const KINDS_OF_WRITES = Object.keys(WRITES);

/** Few clients, so that each has rows of every kind. */
const WRITES_FOR_A_CLIENT = 50;

/**
 * Writes to the instance at random. Writes that are refused, such as one of a row that another writer has
 * removed meanwhile, are among them.
 */
export async function writeAtRandom(
  database: Database,
  { run }: Pick<PlatformUnitOfWork, 'run'>,
  { instanceId, times, random }: { instanceId: string; times: number; random: () => number },
): Promise<{ done: Set<string> }> {
  const names = KINDS_OF_WRITES.filter((name) => name !== 'createClient');
  const done = new Set<string>();
  let texts = 0;
  const writer = Math.floor(random() * 1e9).toString(36);
  const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const choice: Choice = {
    among,
    text: (kind) => {
      texts += 1;
      return `${kind}-${writer}-${texts}`;
    },
    id: async (table) => among(await idsOf(database, table, instanceId)) ?? 'none',
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
  for (let time = 0; time < times; time += 1) {
    const name = time % WRITES_FOR_A_CLIENT === 0 ? 'createClient' : among(names);
    const write = await (WRITES[name] as (typeof WRITES)[string])(instanceId, choice);
    try {
      await run(write);
      done.add(name);
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

async function idsOf({ reader }: Database, table: IdTable, instanceId: string): Promise<string[]> {
  if (table === 'accounts') {
    return (await reader.selectFrom('accounts').select('id').execute()).map(({ id }) => id);
  }
  const clients = reader.selectFrom('clients').where('instance_id', '=', instanceId).select('id');
  if (table === 'clients') {
    return (await clients.execute()).map(({ id }) => id);
  }
  const rows = await reader.selectFrom(table).where('client_id', 'in', clients).select('id').execute();
  return rows.map(({ id }) => id);
}
