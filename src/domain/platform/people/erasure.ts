import type { AccountId } from '../../../../generated/ids.js';
import { refused } from '../../../errors/service-error.js';
import type { Actor } from '../../operator/audit.js';
import { toAddress } from '../addresses.js';
import { BATCH_ROWS } from '../changes.js';
import type { Account, User, WorkerOfInstance } from '../rows/people.js';
import { type Changes, eventOn } from '../unit-of-work.js';
import { getAccount, writeAccount } from './accounts.js';
import { erasedEmailOf, isErased } from './email-addresses.js';
import { writeUsers } from './users.js';
import { fullNameOf, rewriteBatch, workerData } from './workers.js';

type Ports = Pick<
  Changes,
  'accounts' | 'audit' | 'forgetPerson' | 'lock' | 'now' | 'recordEvent' | 'touch' | 'users' | 'workers'
>;

/** The contracts require names of workers. */
const ERASED_NAMES = { firstName: 'Erased', lastName: 'person' };

/**
 * Removes an erased person from stored answers to calls, and from events of users whose manager the person
 * was. It reads all of them and makes small writes; after an interruption, a repeated call does the rest.
 */
export type ForgetCopies = (accountId: AccountId) => Promise<void>;

/** Erases the account in one write, then the copies of its data: no later write adds a copy. */
export async function eraseWithCopies<Answer extends { account: { id: AccountId } }>(
  write: (erase: typeof eraseAccount) => Promise<Answer>,
  forgetCopies: ForgetCopies,
): Promise<Answer> {
  const answer = await write(eraseAccount);
  // Also where the account was erased before: that call may have been cut off.
  await forgetCopies(answer.account.id);
  return answer;
}

/**
 * Removes what says who a person is, for good. What the organization was stays: ids, times, units, location
 * and job titles. Each user and worker that the person was has an event, so that receivers erase them too.
 */
async function eraseAccount(changes: Ports, actor: Actor, accountId: string): Promise<Account> {
  const { id } = await getAccount(changes, accountId);
  await changes.lock(id);
  const present = await getAccount(changes, id);
  if (isErased(present)) {
    return present;
  }
  if ((await changes.accounts.contextsOf(id)).length > 0) {
    throw refused(
      'The person is still a user or a worker. End that first, with DeleteUser and OffboardWorker for each of the contexts of GetAccount.',
    );
  }
  // Nothing can be added: the account is locked.
  const clientIds = await changes.accounts.clientsOf(id);
  await changes.lock(...[...clientIds].sort());
  const users = await changes.users.ofAccount(id);
  const workers = await changes.workers.ofAccount(id);
  const erased = await writeAccount(changes, present, {
    email: erasedEmailOf(id),
    emailVerifiedAt: null,
    firstName: null,
    lastName: null,
    disabledAt: present.disabledAt ?? changes.now,
  });
  await eraseUsers(changes, users);
  await eraseWorkers(changes, workers);
  await changes.touch(...workers.map(({ clientId }) => clientId));
  await changes.forgetPerson({ accountId: id, memberIds: [...users, ...workers].map((member) => member.id) });
  const attributes = { users: String(users.length), workers: String(workers.length) };
  await changes.audit(actor, { type: 'account.erased', subject: { type: 'account', id }, attributes });
  return erased;
}

/** Each with an address of its own: that of the account would tell which users are one person. */
async function eraseUsers(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'touch' | 'users'>,
  users: readonly User[],
): Promise<void> {
  const updatedAt = changes.now;
  const nameless = { firstName: null, lastName: null, fullName: null };
  // Those who report to them change in the sequence when they lose the earlier address, not with the new one.
  await changes.users.rewrite(users.map(({ id }) => ({ id, ...nameless, knownEmail: null, updatedAt })));
  await changes.users.rewrite(users.map(({ id }) => ({ id, knownEmail: erasedEmailOf(id), updatedAt })));
  await writeUsers(changes, users, {}, { tellsOfFormer: true });
}

async function eraseWorkers(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'workers'>,
  workers: readonly WorkerOfInstance[],
): Promise<void> {
  for (let from = 0; from < workers.length; from += BATCH_ROWS) {
    const batch = workers.slice(from, from + BATCH_ROWS);
    const erased = await rewriteBatch(changes, batch, ({ id }) => ({
      ...ERASED_NAMES,
      fullName: fullNameOf(ERASED_NAMES.firstName, ERASED_NAMES.lastName),
      email: erasedEmailOf(id),
      phone: null,
      address: toAddress(null),
    }));
    await changes.recordEvent(
      ...erased.map((worker) => eventOn(worker.instanceId, 'worker.updated', workerData(worker))),
    );
  }
}
