import { expect, test } from '@jest/globals';
import { limitedTo } from '../../../../src/domain/platform/instance-limit.js';
import { createInstance } from '../../../../src/domain/platform/organization/instances.js';
import { updateAccount } from '../../../../src/domain/platform/people/account-updates.js';
import { getAccount } from '../../../../src/domain/platform/people/accounts.js';
import { contractEmailOf } from '../../../../src/domain/platform/people/email-addresses.js';
import { pendingEmails } from '../../../../src/domain/platform/people/email-changes.js';
import { deleteUser, updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import { createUser } from '../../../../src/domain/platform/people/users.js';
import {
  offboardWorker,
  onboardWorker,
  updateWorker,
} from '../../../../src/domain/platform/people/worker-changes.js';
import type { Changes } from '../../../../src/domain/platform/unit-of-work.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { onboard, onboarding } from './organization.js';
import { inStatus, invite, newClient, newPlatform, type Platform } from './people.js';

const BROKEN = 'ada..moreau@Example.com';
const STAND_IN = contractEmailOf(BROKEN);
const VALID = 'ada@example.com';
const WANTED = 'moreau@example.com';
const REFUSED = { code: 'INVALID_REQUEST', faults: ['email must be an e-mail address'] };

/** A user who is a worker too, with an address that no call can write. */
async function knownAs(platform: Platform, email: string, clientId: string = platform.client.id) {
  const user = await invite(platform, clientId, { email: VALID });
  const worker = await onboard(platform, { clientId, email: VALID });
  await move(platform, user.accountId, email);
  await platform.run((changes) => changes.workers.update({ ...worker, email }));
  await platform.newEvents();
  return { user, worker, accountId: user.accountId };
}

const move = ({ run }: Pick<Platform, 'run'>, accountId: string, email: string) =>
  run((changes) => moveIn(changes, accountId, email));

async function moveIn(changes: Changes, accountId: string, email: string): Promise<void> {
  await changes.accounts.update({ ...(await getAccount(changes, accountId)), email });
}

const emailOf = ({ run }: Pick<Platform, 'run'>, accountId: string) =>
  run(async (changes) => (await getAccount(changes, accountId)).email);

type Add = (changes: Changes, clientId: string, email: string) => Promise<{ accountId: string }>;

/** The calls that add a person to a client. */
const ADDITIONS: [call: string, add: Add][] = [
  ['invited', (changes, clientId, email) => createUser(changes, { clientId, email, withoutManager: true })],
  [
    'onboarded',
    (changes, clientId, email) =>
      onboardWorker(changes, onboarding({ client: { id: clientId } } as Platform, { email })),
  ],
];

async function abroad(platform: Platform) {
  const instance = await platform.run((changes) => createInstance(changes, { name: 'Juniper' }));
  return newClient(platform, instance.id, 'Ostrander');
}

describeEachDatabase('an address from before the rule', (under) => {
  test.each([
    ['a domain in letters', 'ben@b\u00fccher.example', 'ben@xn--bcher-kva.example'],
    ['an invisible character', 'be\u200bn@example.com', 'ben@example.com'],
    ['full width', '\uff42en@example.com', 'ben@example.com'],
  ])('with %s is replaced by its valid spelling', async (_, older, email) => {
    const platform = await newPlatform(under);
    const { user, worker, accountId } = await knownAs(platform, older);
    await platform.run((changes) => updateUser(changes, { userId: user.id, email }));
    expect(await emailOf(platform, accountId)).toBe(email);
    await move(platform, accountId, older);
    await platform.run((changes) => updateAccount(changes, { accountId, email }));
    expect(await emailOf(platform, accountId)).toBe(email);
    const update = { workerId: worker.id, email, jobTitles: [] };
    expect(await platform.run((changes) => updateWorker(changes, update))).toMatchObject({ email });
  });

  test('and a new one that waits both stay when its stand-in is sent back, and a copy of it ends the wait', async () => {
    const platform = await newPlatform(under);
    const { user, worker, accountId } = await knownAs(platform, BROKEN);
    await invite(platform, (await newClient(platform, platform.instance.id, 'Quillmere')).id, {
      email: BROKEN,
    });
    await inStatus(platform, user, 'ACTIVE');
    await platform.newEvents();
    const waiting = () =>
      platform.run(async (changes) => (await pendingEmails(changes, accountId)).map(({ email }) => email));
    const update = async (email: string) => {
      await platform.run((changes) => updateUser(changes, { userId: user.id, email }));
      await platform.run((changes) => updateAccount(changes, { accountId, email }));
    };
    await update(WANTED);
    expect(await waiting()).toEqual([WANTED, WANTED]);
    await update(STAND_IN);
    expect(await waiting()).toEqual([WANTED, WANTED]);
    const unchanged = { workerId: worker.id, email: STAND_IN, jobTitles: [] };
    expect(await platform.run((changes) => updateWorker(changes, unchanged))).toMatchObject({
      email: BROKEN,
      version: worker.version,
    });
    await update(BROKEN);
    expect(await waiting()).toEqual([]);
    expect(await platform.newEvents()).toEqual([]);
    expect(await emailOf(platform, accountId)).toBe(BROKEN);
  });

  test('is not written again over one that replaced it meanwhile', async () => {
    const platform = await newPlatform(under);
    const { user, worker, accountId } = await knownAs(platform, BROKEN);
    /** Another write comes first. */
    const overtaken = (changes: Changes): Changes => ({
      ...changes,
      lock: async (...ids) => {
        await changes.lock(...ids);
        await moveIn(changes, accountId, WANTED);
        await changes.workers.update({ ...worker, email: WANTED });
      },
    });
    const email = BROKEN;
    const echoes: ((changes: Changes) => Promise<unknown>)[] = [
      (changes) => updateUser(changes, { userId: user.id, email }),
      (changes) => updateAccount(changes, { accountId, email }),
      (changes) => updateWorker(changes, { workerId: worker.id, email, jobTitles: [] }),
    ];
    for (const echo of echoes) {
      const refused = platform.run((changes) => echo(overtaken(changes)));
      expect(await refusalOf(refused)).toMatchObject({ code: 'VERSION_CONFLICT' });
    }
  });

  test.each(ADDITIONS)('names its person, who is %s elsewhere, exactly as it is stored', async (_, add) => {
    const platform = await newPlatform(under);
    const { accountId } = await knownAs(platform, BROKEN);
    const { id: clientId } = await abroad(platform);
    expect(await platform.run((changes) => add(changes, clientId, ` ${BROKEN} `))).toMatchObject({
      accountId,
      email: BROKEN,
    });
    expect(await emailOf(platform, accountId)).toBe(BROKEN);
    for (const email of [BROKEN.toLowerCase(), `x${BROKEN}`]) {
      expect(await refusalOf(platform.run((changes) => add(changes, clientId, email)))).toEqual(REFUSED);
    }
    const standIn = platform.run((changes) => add(changes, clientId, STAND_IN));
    expect(await refusalOf(standIn)).toMatchObject({
      faults: [expect.stringContaining('that mail reaches')],
    });
  });

  test.each(ADDITIONS)(
    'makes no account when its person, to be %s, got another one meanwhile',
    async (_, add) => {
      const platform = await newPlatform(under);
      const { accountId } = await knownAs(platform, BROKEN);
      const { id: clientId } = await abroad(platform);
      /** Another write comes after the first look. */
      const overtaken = (changes: Changes): Changes => {
        const { findByEmail } = changes.accounts;
        const accounts = {
          ...changes.accounts,
          findByEmail: async (email: string) => {
            const found = await findByEmail(email);
            await moveIn(changes, accountId, WANTED);
            return found;
          },
        };
        return { ...changes, accounts };
      };
      const refused = platform.run((changes) => add(overtaken(changes), clientId, BROKEN));
      expect(await refusalOf(refused)).toEqual(REFUSED);
    },
  );

  test.each([
    ['control characters', 'a\u0001da@example.com'],
    ['more than 320 characters', `${'a'.repeat(310)}@example.com`],
    ['a domain of stand-ins', 'ada..moreau@address.invalid'],
  ])('with %s names no person', async (_, email) => {
    const platform = await newPlatform(under);
    await knownAs(platform, email);
    const { id: clientId } = await abroad(platform);
    for (const [, add] of ADDITIONS) {
      const refused = platform.run((changes) => add(changes, clientId, email));
      expect(await refusalOf(refused)).toMatchObject({ code: 'INVALID_REQUEST' });
    }
  });

  test.each(ADDITIONS)(
    'names a person who is %s with a token of one instance if they are or were of it, and is unknown otherwise',
    async (_, add) => {
      const platform = await newPlatform(under);
      const foreign = await abroad(platform);
      const { user, worker, accountId } = await knownAs(platform, BROKEN, foreign.id);
      const { run } = limitedTo(platform.instance.id, platformUnitOfWork(platform.database));
      const adding = (email: string) => run((changes) => add(changes, platform.client.id, email));
      expect(await refusalOf(adding(BROKEN))).toEqual(await refusalOf(adding(`x${BROKEN}`)));

      const { id: userId } = await invite(platform, platform.client.id, { email: BROKEN });
      await platform.run((changes) => deleteUser(changes, { userId }));
      expect(await adding(BROKEN)).toMatchObject({ accountId, email: BROKEN });

      // Its own, as the first of these tokens sees it, who has left it.
      await platform.run((changes) => deleteUser(changes, { userId: user.id }));
      await platform.run((changes) => offboardWorker(changes, { workerId: worker.id }));
      const other = limitedTo(foreign.instanceId, platformUnitOfWork(platform.database));
      expect(await other.run((changes) => add(changes, foreign.id, BROKEN))).toMatchObject({ accountId });
    },
  );
});
