import type { ClientId, InstanceId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Account } from './accounts.js';
import type { Changes, UnitOfWork } from './unit-of-work.js';

/**
 * Which accounts a work may reach by what its request names: any, to join it to the instance; one that is somebody in the instance, to be read; or
 * one that is nobody outside the instance, to be changed. With none, the work is about the accounts of all instances and is refused.
 */
export type AccountReach = 'any' | 'member' | 'own' | 'none';

/** A unit of work in which only one instance exists: what belongs to others is not found. */
export function limitedTo(
  instanceId: InstanceId,
  accountReach: AccountReach,
  { inOrder, run }: UnitOfWork,
): UnitOfWork {
  if (accountReach === 'none') {
    throw notAllowed('This token is limited to one instance, and this is about the people of all.');
  }
  return {
    inOrder,
    run: (work, ...rest) => run((changes) => work(limited(changes, instanceId, accountReach)), ...rest),
  };
}

interface OfClient {
  clientId: ClientId;
}

function limited(changes: Changes, instanceId: InstanceId, accountReach: AccountReach): Changes {
  const clients: Changes['clients'] = {
    ...changes.clients,
    find: async (id) => {
      const client = await changes.clients.find(id);
      return client?.instanceId === instanceId ? client : undefined;
    },
    page: async (page, wanted = instanceId) =>
      wanted === instanceId ? changes.clients.page(page, instanceId) : [],
  };
  const within = <Row extends OfClient, Rows extends { find(id: string): Promise<Row | undefined> }>(
    rows: Rows,
  ): Rows => ({
    ...rows,
    find: async (id: string) => {
      const row = await rows.find(id);
      return row && (await clients.find(row.clientId)) ? row : undefined;
    },
  });
  return {
    ...changes,
    clients,
    instances: {
      ...changes.instances,
      find: async (id) => (id === instanceId ? changes.instances.find(id) : undefined),
      page: async ({ after }) => {
        const own = after ? undefined : await changes.instances.find(instanceId);
        return own ? [own] : [];
      },
      insert: () => {
        throw notAllowed('This token is limited to one instance and cannot create another.');
      },
    },
    roles: within(changes.roles),
    users: within(changes.users),
    unitTypes: within(changes.unitTypes),
    units: within(changes.units),
    locations: within(changes.locations),
    workers: within(changes.workers),
    accounts: accountReach === 'any' ? changes.accounts : limitedAccounts(changes, instanceId, accountReach),
  };
}

function limitedAccounts(
  { accounts }: Changes,
  instanceId: InstanceId,
  accountReach: AccountReach,
): Changes['accounts'] {
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
