import { expect, test } from '@jest/globals';
import type { AccountId } from '../../../generated/ids.js';
import { createClient } from '../../../src/domain/platform/organization/clients.js';
import { createInstance } from '../../../src/domain/platform/organization/instances.js';
import { createLink, setPassword } from '../../../src/domain/platform/people/account-credentials.js';
import { updateAccount } from '../../../src/domain/platform/people/account-updates.js';
import { deleteUser, updateUser } from '../../../src/domain/platform/people/user-updates.js';
import { createUser } from '../../../src/domain/platform/people/users.js';
import {
  offboardWorker,
  onboardWorker,
  updateWorker,
} from '../../../src/domain/platform/people/worker-changes.js';
import type { Changes } from '../../../src/domain/platform/unit-of-work.js';
import {
  inStatus,
  invite,
  newClient,
  newPlatform,
  type Platform,
} from '../../store/adapters/platform/people.js';
import { describeEachDatabase } from '../../support/databases.js';
import { refusalOf } from '../../support/platform-writes.js';
import { ACTOR, allVerified, signedIn } from './credential-rows.js';

/** The table of the README: what each state of an account makes of each change of its address. */

const PRESENT = 'ada@example.com';
const NEW = 'moreau@example.com';
const WORK = { firstName: 'Ada', lastName: 'Moreau', jobTitles: [], unitIds: [] };

interface Subject extends Platform {
  accountId: AccountId;
  userId: string;
  workerId: string;
  clientId: string;
}

type Step = (subject: Subject) => Promise<unknown>;

const password: Step = ({ run, accountId }) =>
  run((changes) => setPassword(changes, ACTOR, { accountId, passwordHash: 'hash' }));

const userBeside: Step = async (subject) => {
  const other = await newClient(subject, subject.instance.id, 'Quillmere');
  return invite(subject, other.id, { email: PRESENT });
};

async function clientAbroad({ run }: Platform) {
  const instance = await run((changes) => createInstance(changes, { name: 'Juniper' }));
  return run((changes) => createClient(changes, { instanceId: instance.id, name: 'Ostrander' }));
}

const userAbroad: Step = async (subject) =>
  invite(subject, (await clientAbroad(subject)).id, { email: PRESENT });

const workerAbroad = async (subject: Subject) => {
  const { id } = await clientAbroad(subject);
  return subject.run((changes) => onboardWorker(changes, { ...WORK, clientId: id, email: PRESENT }));
};

const inTurn =
  (...steps: Step[]): Step =>
  async (subject) => {
    for (const step of steps) {
      await step(subject);
    }
  };

const active: Step = (subject) => inStatus(subject, { id: subject.userId }, 'ACTIVE');

const signedInHere = inTurn(password, active);

type Outcome = 'now' | 'waits' | 'refused';

/** What the client and the platform get who ask for another address. */
const STATES: [state: string, step: Step, byClient: Outcome, byPlatform: Outcome][] = [
  ['never signed in, of one client', async () => undefined, 'now', 'now'],
  ['never signed in, of one client, address verified', allVerified, 'now', 'now'],
  ['never signed in, of two clients', userBeside, 'refused', 'waits'],
  ['never signed in, of two instances', userAbroad, 'refused', 'waits'],
  ['never signed in, a worker elsewhere', workerAbroad, 'refused', 'waits'],
  [
    'never signed in, offboarded elsewhere',
    async (subject) => {
      const { id: workerId } = await workerAbroad(subject);
      await subject.run((changes) => offboardWorker(changes, { workerId }));
    },
    'refused',
    'waits',
  ],
  [
    'never signed in, deleted elsewhere',
    async (subject) => {
      const { id: userId } = (await userAbroad(subject)) as { id: string };
      await subject.run((changes) => deleteUser(changes, { userId }));
    },
    'refused',
    'waits',
  ],
  ['with a password, only invited', password, 'refused', 'waits'],
  ['with a password, only invited, address verified', inTurn(password, allVerified), 'refused', 'waits'],
  ['with a password, only invited, of two clients', inTurn(userBeside, password), 'refused', 'waits'],
  ['with a password, only invited, of two instances', inTurn(userAbroad, password), 'refused', 'waits'],
  ['with a password, only invited, a worker elsewhere', inTurn(workerAbroad, password), 'refused', 'waits'],
  ['signed in, of one client', signedInHere, 'waits', 'waits'],
  ['signed in, of one client, address verified', inTurn(signedInHere, allVerified), 'waits', 'waits'],
  ['signed in, of two clients', inTurn(userBeside, signedInHere), 'waits', 'waits'],
  ['signed in, of two instances', inTurn(userAbroad, signedInHere), 'waits', 'waits'],
  ['signed in, a worker elsewhere', inTurn(workerAbroad, signedInHere), 'waits', 'waits'],
  [
    'signed in, then disabled',
    inTurn(signedInHere, (subject) => inStatus(subject, { id: subject.userId }, 'INACTIVE')),
    'waits',
    'waits',
  ],
];

type Change = (changes: Changes, subject: Subject) => Promise<unknown>;

const byClient: Change = (changes, { userId }) => updateUser(changes, { userId, email: NEW });
const byPlatform: Change = (changes, { accountId }) => updateAccount(changes, { accountId, email: NEW });

/** What changes no address, whatever the state. */
const HARMLESS: [change: string, change: Change][] = [
  ['UpdateUser of names', (changes, { userId }) => updateUser(changes, { userId, firstName: 'Bo' })],
  [
    'UpdateWorker of the address',
    (changes, { workerId }) => updateWorker(changes, { workerId, email: NEW, jobTitles: [] }),
  ],
  [
    'CreateUser, or its line of an import, for the address in capitals',
    async (changes, { instance }) => {
      const { id } = await createClient(changes, { instanceId: instance.id, name: 'Late' });
      await createUser(changes, {
        clientId: id,
        email: PRESENT.toUpperCase(),
        firstName: 'Mallory',
        withoutManager: true,
      });
    },
  ],
  [
    'OnboardWorker, or its line of an import, for the address in capitals',
    async (changes, { instance }) => {
      const { id } = await createClient(changes, { instanceId: instance.id, name: 'Late' });
      await onboardWorker(changes, {
        ...WORK,
        clientId: id,
        email: PRESENT.toUpperCase(),
        firstName: 'Mallory',
      });
    },
  ],
  ['DeleteUser', (changes, { userId }) => deleteUser(changes, { userId })],
];

describeEachDatabase('the address of an account', (under) => {
  async function subjectIn(step: Step): Promise<Subject> {
    const platform = await newPlatform(under);
    const clientId = platform.client.id;
    const user = await invite(platform, clientId, { email: PRESENT });
    const worker = await platform.run((changes) =>
      onboardWorker(changes, { ...WORK, clientId, email: PRESENT }),
    );
    const subject = {
      ...platform,
      accountId: user.accountId,
      userId: user.id,
      workerId: worker.id,
      clientId,
    };
    await step(subject);
    await platform.newEvents();
    return subject;
  }

  /** Everything that the person's way in hangs on. */
  async function stateOf({ run, accountId }: Subject) {
    return run(async (changes) => ({
      account: await changes.accounts.find(accountId),
      password: await changes.passwords.find(accountId),
    }));
  }

  const rows = STATES.flatMap(([state, step, client, platform]) => [
    { state, step, asker: 'UpdateUser of its client', change: byClient, outcome: client },
    { state, step, asker: 'UpdateAccount of the platform', change: byPlatform, outcome: platform },
  ]);

  test.each(rows)('$state: a new one by $asker: $outcome', async ({ step, change, outcome }) => {
    const subject = await subjectIn(step);
    const before = await stateOf(subject);
    const versionOfUser = () =>
      subject.run(async (changes) => (await changes.users.find(subject.userId))?.version);
    const version = await versionOfUser();
    const session = await signedIn(subject, subject.accountId, 'here');
    const link = {
      accountId: subject.accountId,
      purpose: 'verify_email' as const,
      lifetimeSeconds: undefined,
    };
    await subject.run((changes) => createLink(changes, ACTOR, link));
    const asked = subject.run((changes) => change(changes, subject));
    if (outcome === 'refused') {
      expect(await refusalOf(asked)).toEqual({ code: 'TRANSITION_REFUSED', faults: [] });
    } else {
      await asked;
    }
    const after = await stateOf(subject);
    const events = (await subject.newEvents()).map(({ type, data }) => [type, data.email]);
    const [kept] = await subject.database.reader.selectFrom('account_links').select('ended_at').execute();
    expect((await versionOfUser()) === version).toBe(outcome !== 'now');
    if (outcome !== 'now') {
      expect(after).toEqual(before);
      expect(events).toEqual([]);
      expect(kept?.ended_at).toBeNull();
      expect(await session.left()).toEqual({ session: true, grant: true });
    } else {
      expect(after.account).toMatchObject({ email: NEW, emailVerifiedAt: null });
      expect(events).toEqual([['user.updated', NEW]]);
      expect(kept?.ended_at).not.toBeNull();
    }
    const waiting = await subject.run((changes) => changes.emailChanges.ofAccount(subject.accountId));
    expect(waiting.map(({ email }) => email)).toEqual(outcome === 'waits' ? [NEW] : []);
  });

  test.each(STATES)('%s: is not changed by any other write', async (_, step) => {
    const subject = await subjectIn(step);
    const before = await stateOf(subject);
    for (const [what, change] of HARMLESS) {
      await subject.run((changes) => change(changes, subject));
      expect([what, await stateOf(subject)]).toEqual([what, before]);
    }
  });

  test("waits once for each client that asks, and one client's wish replaces no other", async () => {
    const subject = await subjectIn(userBeside);
    const users = await subject.run((changes) => changes.users.ofAccount(subject.accountId));
    const wishes = ['first@example.com', 'second@example.com', 'third@example.com'];
    await Promise.all(users.map((user) => inStatus(subject, user, 'ACTIVE')));
    for (const email of wishes) {
      for (const { id: userId, clientId } of users) {
        await subject.run((changes) => updateUser(changes, { userId, email: `${clientId}.${email}` }));
      }
    }
    const waiting = await subject.run((changes) => changes.emailChanges.ofAccount(subject.accountId));
    expect(waiting.map(({ asker, email }) => [asker, email]).sort()).toEqual(
      users.map(({ clientId }) => [clientId, `${clientId}.third@example.com`]).sort(),
    );
  });
});
