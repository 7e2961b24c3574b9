import type { ClientId, InstanceId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Account } from './accounts.js';
import type { PlatformRows, UnitOfWork } from './unit-of-work.js';

/**
 * Which accounts a work may reach by what its request names: any, to join it to the instance; one that is somebody in the instance, to be read; or
 * one that is nobody outside the instance, to be changed. With none, the work is about the accounts of all instances and is refused.
 */
export type AccountReach = 'any' | 'member' | 'own' | 'none';

/** A unit of work in which only one instance exists: what belongs to others is not found. */
export function limitedTo(
  instanceId: InstanceId,
  accountReach: AccountReach,
  { inOrder, rows, run }: UnitOfWork,
): UnitOfWork {
  if (accountReach === 'none') {
    throw notAllowed('This token is limited to one instance, and this is about the people of all.');
  }
  return {
    inOrder,
    rows: limited(rows, instanceId, accountReach),
    run: (work, ...rest) => run((changes) => work(limited(changes, instanceId, accountReach)), ...rest),
  };
}

interface OfClient {
  clientId: ClientId;
}

function limited<Rows extends PlatformRows>(
  rows: Rows,
  instanceId: InstanceId,
  accountReach: AccountReach,
): Rows {
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
    accounts: accountReach === 'any' ? rows.accounts : limitedAccounts(rows, instanceId, accountReach),
  };
}

function limitedAccounts(
  { accounts }: PlatformRows,
  instanceId: InstanceId,
  accountReach: AccountReach,
): PlatformRows['accounts'] {
  const reached = async (account: Account | undefined) => {
    const contexts = account ? await accounts.contextsOf(account.id) : [];
    const inside = contexts.filter((context) => context.instanceId === instanceId);
    if (inside.length === 0) {
      return undefined;
    }
    if (accountReach === 'own' && inside.length < contexts.length) {
      throw notAllowed('This token is limited to one instance, and the person is known in others too.');
    }
    return account;
  };
  return {
    ...accounts,
    find: async (id) => reached(await accounts.find(id)),
    findByEmail: async (emailKey) => reached(await accounts.findByEmail(emailKey)),
    contextsOf: async (id) =>
      (await accounts.contextsOf(id)).filter((context) => context.instanceId === instanceId),
  };
}

function notAllowed(message: string): ServiceError {
  return new ServiceError(ErrorCode.CALLER_NOT_ALLOWED, message);
}
