import { type AccountId, type ClientId, type InstanceId, publicIdPrefixes } from '../../../generated/ids.js';
import { refused } from '../../errors/service-error.js';
import { emailKeyOf } from './people/email-keys.js';
import type { Account, AccountContext } from './rows/people.js';
import type { Changes, PlatformRows, PlatformUnitOfWork } from './unit-of-work.js';

/** A unit of work that sees one instance only; nothing else is found. */
export function limitedTo(
  instanceId: InstanceId,
  { inOrder, rows, run }: PlatformUnitOfWork,
): PlatformUnitOfWork {
  const reading = limited(rows, instanceId);
  return {
    inOrder,
    rows: { ...reading, accounts: accountsOf(rows, instanceId) },
    run: (work, { repeatable, ...origin } = {}) =>
      run(
        (changes) => work({ ...limited(changes, instanceId), instanceId, lock: lockOf(changes, instanceId) }),
        { ...origin, ...(repeatable && { repeatable: { ...repeatable, isOwnedOnly: true } }) },
      ),
  };
}

/** Takes no lock on what is out of reach, which would delay others; the read after it finds nothing. */
function lockOf(
  { lock, clients }: Pick<Changes, 'clients' | 'lock'>,
  instanceId: InstanceId,
): Changes['lock'] {
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

/** Writes may read every account, to join it, but change none. */
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

/** Accounts of people in the instance. */
function accountsOf(
  { accounts }: Pick<PlatformRows, 'accounts'>,
  instanceId: InstanceId,
): PlatformRows['accounts'] {
  const isThere = (context: AccountContext) => context.instanceId === instanceId;
  const contextsOf = async (id: AccountId) => (await accounts.contextsOf(id)).filter(isThere);
  const reached = async (account: Account | undefined) => {
    const contexts = account ? await contextsOf(account.id) : [];
    return account && contexts.length > 0 ? asKnown(account, contexts) : undefined;
  };
  return {
    ...accounts,
    find: async (id) => reached(await accounts.find(id)),
    findByEmail: async (email) => {
      const account = await accounts.findByEmail(email);
      const known = await reached(account);
      return known?.email === account?.email ? known : undefined;
    },
    contextsOf,
    formerContextsOf: (id) => accounts.formerContextsOf(id, instanceId),
  };
}

/**
 * With the address by which users of the instance know the person; with none if the person is only a worker
 * there, whose own address is another one.
 */
function asKnown(account: Account, contexts: readonly AccountContext[]): Account {
  const emailKey = emailKeyOf(account.email);
  const isKnown = contexts.some(
    ({ knownEmail }) => knownEmail === null || emailKeyOf(knownEmail) === emailKey,
  );
  const user = contexts.find(({ member }) => member.kind === 'user');
  return isKnown ? account : { ...account, email: user?.knownEmail ?? '' };
}

/**
 * Workers or users that a write of a token of one instance may change. On SQLite, the sign-ins of all tenants
 * wait for such a write, which may be repeated for ever: so many take about half a second, and three where
 * each worker has as many units and job titles as possible.
 */
const MOST_CHANGED = 5_000;

/** Refuses a token of one instance a write that would change too many. It comes before the work. */
export async function assertFewChange(
  { instanceId }: Pick<Changes, 'instanceId'>,
  kind: 'users' | 'workers',
  countUpTo: (limit: number) => Promise<number>,
  most = MOST_CHANGED,
): Promise<void> {
  if (instanceId !== undefined && (await countUpTo(most + 1)) > most) {
    throw refused(
      `With a token of one instance, a call can change at most ${most} ${kind}. The platform can make this call with a token of all instances.`,
    );
  }
}

/** An event has all titles and units of its worker, and is kept for weeks: a short call can fill the disk. */
const MOST_EVENT_BYTES = 16 * 1_024 * 1_024;

/** The same for workers, each of whom has an event, and bounds the bytes of these events. */
export async function assertFewWorkersChange(
  changes: Pick<Changes, 'instanceId'>,
  eventBytesUpTo: (limit: number) => Promise<number[]>,
): Promise<void> {
  let bytes = 0;
  await assertFewChange(changes, 'workers', async (limit) => {
    const found = await eventBytesUpTo(limit);
    bytes = found.reduce((sum, each) => sum + each, 0);
    return found.length;
  });
  if (bytes > MOST_EVENT_BYTES) {
    throw refused(
      'With a token of one instance, the events of a call can have at most about 16 MiB, and these workers have many job titles or units. The platform can make this call with a token of all instances.',
    );
  }
}

/** Managers or units that a search reads: a token of one instance can repeat it without limit. */
const MOST_ABOVE = 1_000;

/** Refuses a token of one instance a search that does not end among so many users or units. */
export async function isFoundAbove(
  { instanceId }: Pick<Changes, 'instanceId'>,
  kind: 'users' | 'units',
  search: (limit: number | undefined) => Promise<boolean | undefined>,
): Promise<boolean> {
  const isFound = await search(instanceId === undefined ? undefined : MOST_ABOVE);
  if (isFound === undefined) {
    const where = kind === 'users' ? 'manager' : 'parent';
    throw refused(
      `With a token of one instance, fewer than ${MOST_ABOVE} ${kind} can be above a new ${where}. The platform can make this call with a token of all instances.`,
    );
  }
  return isFound;
}
