import { type AccountId, type ClientId, type InstanceId, publicIdPrefixes } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Account } from './accounts.js';
import type { Changes, PlatformRows, UnitOfWork } from './unit-of-work.js';

/** A unit of work in which only one instance exists: what belongs to others is not found. */
export function limitedTo(instanceId: InstanceId, { inOrder, rows, run }: UnitOfWork): UnitOfWork {
  const reading = limited(rows, instanceId);
  return {
    inOrder,
    rows: { ...reading, accounts: accountsOf(rows, instanceId) },
    run: (work, repeatable, origin) =>
      run(
        (changes) => work({ ...limited(changes, instanceId), instanceId, lock: lockOf(changes, instanceId) }),
        repeatable && { ...repeatable, isOwnedOnly: true },
        origin,
      ),
  };
}

/** Nothing waits for what is not reached, or another instance would wait for it too: the look that follows each lock does not find it. */
function lockOf({ lock, clients }: Changes, instanceId: InstanceId): Changes['lock'] {
  const isReached = async (id: string) =>
    id === instanceId ||
    id.startsWith(`${publicIdPrefixes.AccountId}_`) ||
    (await clients.find(id))?.instanceId === instanceId;
  return async (...ids) => {
    for (const id of ids) {
      if (await isReached(id)) {
        await lock(id);
      }
    }
  };
}

interface OfClient {
  clientId: ClientId;
}

/** Writes reach every account, to join it, and change none. */
function limited<Rows extends PlatformRows>(rows: Rows, instanceId: InstanceId): Rows {
  const clients: PlatformRows['clients'] = {
    ...rows.clients,
    find: async (id) => {
      const client = await rows.clients.find(id);
      return client?.instanceId === instanceId ? client : undefined;
    },
    page: async (page, wanted = instanceId) =>
      wanted === instanceId ? rows.clients.page(page, instanceId) : [],
  };
  const within = <Row extends OfClient, Of extends { find(id: string): Promise<Row | undefined> }>(
    of: Of,
  ): Of => ({
    ...of,
    find: async (id: string) => {
      const row = await of.find(id);
      return row && (await clients.find(row.clientId)) ? row : undefined;
    },
  });
  return {
    ...rows,
    clients,
    instances: {
      ...rows.instances,
      find: async (id) => (id === instanceId ? rows.instances.find(id) : undefined),
      page: async ({ after }) => {
        const own = after ? undefined : await rows.instances.find(instanceId);
        return own ? [own] : [];
      },
      insert: () => {
        throw notAllowed('This token is limited to one instance and cannot create another.');
      },
    },
    roles: within(rows.roles),
    users: within(rows.users),
    unitTypes: within(rows.unitTypes),
    units: within(rows.units),
    locations: within(rows.locations),
    workers: within(rows.workers),
    emailChanges: {
      ...rows.emailChanges,
      ofAccount: async (id) => {
        const wishes = await rows.emailChanges.ofAccount(id);
        const own = await Promise.all(wishes.map(({ asker }) => clients.find(asker)));
        return wishes.filter((_, index) => own[index]);
      },
    },
  };
}

/** Those of people who are somebody in the instance. */
function accountsOf({ accounts }: PlatformRows, instanceId: InstanceId): PlatformRows['accounts'] {
  const contextsOf = async (id: AccountId) =>
    (await accounts.contextsOf(id)).filter((context) => context.instanceId === instanceId);
  const reached = async (account: Account | undefined) =>
    account && (await contextsOf(account.id)).length > 0 ? account : undefined;
  return {
    ...accounts,
    find: async (id) => reached(await accounts.find(id)),
    findByEmail: async (email) => reached(await accounts.findByEmail(email)),
    contextsOf,
  };
}

export function notAllowed(message: string): ServiceError {
  return new ServiceError(ErrorCode.CALLER_NOT_ALLOWED, message);
}
