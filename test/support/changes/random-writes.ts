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
import { createUser } from '../../../src/domain/platform/people/users.js';
import {
  assignWorkerUnits,
  offboardWorker,
  updateWorker,
} from '../../../src/domain/platform/people/worker-changes.js';
import { onboardWorker } from '../../../src/domain/platform/people/worker-onboarding.js';
import type { Changes, PlatformUnitOfWork } from '../../../src/domain/platform/unit-of-work.js';
import { ServiceError } from '../../../src/errors/service-error.js';
import type { Database } from '../../../src/store/database.js';
import type { Schema } from '../../../src/store/schema.js';

type Write = (changes: Changes) => Promise<unknown>;

/** Chooses a random row of the instance. */
interface Choice {
  text(kind: string): string;
  among<T>(values: readonly T[]): T;
  /** Of a client, unless it is a client. */
  id(table: IdTable): Promise<string>;
  title(): Promise<string>;
}

type IdTable = 'accounts' | 'clients' | 'locations' | 'roles' | 'unit_types' | 'units' | 'users' | 'workers';

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
  renameJobTitle: async (_, { id, title, text }) => {
    const renaming = { clientId: await id('clients'), title: await title(), newTitle: text('Title') };
    return (changes) => renameJobTitle(changes, renaming);
  },
  removeJobTitle: async (_, { id, title }) => {
    const removal = { clientId: await id('clients'), title: await title() };
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
  createUnitType: async (_, { id, text }) => {
    const units = [{ name: text('Unit'), subUnits: [{ name: text('Unit'), subUnits: [] }] }];
    const creation = { clientId: await id('clients'), name: text('Type'), units };
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
  onboardWorker: async (_, { id, text, title }) => {
    const onboarding = {
      clientId: await id('clients'),
      email: `${text('worker')}@example.com`,
      firstName: text('First'),
      lastName: text('Last'),
      jobTitles: [await title()].filter(Boolean),
      unitIds: [],
    };
    return (changes) => onboardWorker(changes, onboarding);
  },
  updateWorker: async (_, { id, text, title }) => {
    const jobTitles = [await title()].filter(Boolean);
    const update = { workerId: await id('workers'), firstName: text('First'), jobTitles };
    return (changes) => updateWorker(changes, update);
  },
  placeWorker: async (_, { id }) => {
    const placement = { workerId: await id('workers'), jobTitles: [], locationId: await id('locations') };
    return (changes) => updateWorker(changes, { ...placement, updateMask: ['location_id'] });
  },
  assignWorkerUnits: async (_, { id, among }) => {
    const unitIds = [await id('units')].slice(0, among([0, 1, 1, 1]));
    const assignment = { workerId: await id('workers'), unitIds };
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
  moveUser: async (_, { id }) => {
    const update = { userId: await id('users'), managerUserId: await id('users') };
    return (changes) => updateUser(changes, update);
  },
  changeStatus: async (_, { id, among }) => {
    const userId = await id('users');
    const change = among([enableUser, disableUser, deleteUser]);
    return (changes) => change(changes, { userId });
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

/**
 * Writes to the instance at random. Writes that are refused, such as one of a row that another writer has
 * removed meanwhile, are among them.
 */
export async function writeAtRandom(
  database: Database,
  { run }: Pick<PlatformUnitOfWork, 'run'>,
  { instanceId, times, random }: { instanceId: string; times: number; random: () => number },
): Promise<{ done: Set<string> }> {
  const names = Object.keys(WRITES);
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
    id: async (table) => {
      const { rows } = { rows: await idsOf(database, table, instanceId) };
      return among(rows) ?? 'none';
    },
    title: async () =>
      among(
        (await database.reader.selectFrom('job_titles').select('title').execute()).map(({ title }) => title),
      ) ?? '',
  };
  for (let time = 0; time < times; time += 1) {
    const name = time === 0 ? 'createClient' : among(names);
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

/** The names of all kinds of writes. */
export const KINDS_OF_WRITES = Object.keys(WRITES);

async function idsOf(
  { reader }: Database,
  table: IdTable & keyof Schema,
  instanceId: string,
): Promise<string[]> {
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
