import { describe, expect, test } from '@jest/globals';
import type { AccountId, ApplicationId, InstanceId } from '../../../../generated/ids.js';
import type { SignOnChanges, SignOnUnitOfWork } from '../../../../src/domain/sign-on/sign-on.js';
import { purgeStore } from '../../../../src/store/adapters/purge.js';
import { signOnUnitOfWork } from '../../../../src/store/adapters/sign-on/unit-of-work.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { queryPlansOf, type Use } from '../../query-plans.js';
import { KINDS } from '../purge-kinds.js';

const ACCOUNT = 'acc_1' as AccountId;
const INSTANCE = 'ins_1' as InstanceId;
const APPLICATION = 'app_1' as ApplicationId;

const reading =
  (read: (rows: SignOnUnitOfWork['rows']) => Promise<unknown>): Use =>
  (database) =>
    read(signOnUnitOfWork(database).rows);

const writing =
  (work: (changes: SignOnChanges) => Promise<unknown>): Use =>
  (database) =>
    signOnUnitOfWork(database).run(work);

const to = { at: 1, refreshExpiresAt: 2, expiresAt: 3 };

const uses: [title: string, use: Use][] = [
  ['an application', reading(({ applications }) => applications.find(APPLICATION))],
  ['a code', reading(({ codes }) => codes.find('hash'))],
  ['a grant', reading(({ grants }) => grants.find('id'))],
  ['a session', reading(({ sessions }) => sessions.findByToken('hash'))],
  ['the end of an interaction', reading(({ interactions }) => interactions.isFinished('id'))],
  ['the newest sessions of a person', writing(({ sessions }) => sessions.keepNewest(ACCOUNT, 1))],
  ['a link', reading(({ links }) => links.find('hash'))],
  ['a wish for an address', reading(({ emailChanges }) => emailChanges.findByLink('hash'))],
  ['the wishes of a person', writing(({ emailChanges }) => emailChanges.end(ACCOUNT))],
  ['a wish that is taken', writing(({ emailChanges }) => emailChanges.take('hash', 1))],
  ['the notices', reading(({ notices }) => notices.page({ after: { createdAt: 1, id: 'ntc' }, limit: 10 }))],
  ['a password', reading(({ passwords }) => passwords.find(ACCOUNT))],
  [
    'a consent',
    reading(({ consents }) =>
      consents.find({ accountId: ACCOUNT, applicationId: APPLICATION, instanceId: INSTANCE }),
    ),
  ],
  ['a turn', reading(({ attempts }) => attempts.waitingFor('holder', 1))],
  ['a redemption', writing(({ codes }) => codes.redeem('hash', 1))],
  [
    'a rotation',
    writing(({ grants }) =>
      grants.rotate({ id: 'id', applicationId: APPLICATION, accountId: ACCOUNT, generation: 1 }, to),
    ),
  ],
  ['the sessions of a person', writing(({ sessions }) => sessions.deleteOfAccount(ACCOUNT))],
  [
    'the codes and grants of an application',
    writing(({ grants }) =>
      grants.revokeOfApplication({ accountId: ACCOUNT, applicationId: APPLICATION, instanceId: INSTANCE }, 1),
    ),
  ],
  ['the codes and grants of a person', writing(({ grants }) => grants.revokeOfAccount(ACCOUNT, 1))],
  [
    'the codes and grants of a session',
    writing(({ grants }) => grants.revokeOfSession({ sessionId: 'id', accountId: ACCOUNT }, 1)),
  ],
  ['the links of a person', writing(({ links }) => links.endOfAccount(ACCOUNT, ['reset'], 1))],
  ['the codes of a minute', writing(({ codeMinutes }) => codeMinutes.expire(0, 1))],
];

describe('on SQLite', () => {
  const under = databaseUnderTest('SQLite');

  async function expectSearches(use: Use): Promise<void> {
    const plans = await queryPlansOf(under, use);
    expect(plans).toContainEqual(expect.stringMatching(/^SEARCH/));
    // `oldest` has at most as many rows as a batch.
    expect(plans.filter((plan) => /^SCAN (?!oldest$)/.test(plan))).toEqual([]);
  }

  test.each(uses)('%s is found by an index, at any size of the tables', async (_, use) => {
    await expectSearches(use);
  });

  test('the sessions, consents and grants of a person are found by the person, for each page', async () => {
    const plans = await queryPlansOf(
      under,
      reading(async ({ sessions, consents, grants }) => {
        await sessions.page(ACCOUNT, 'id', 10);
        await consents.page(ACCOUNT, { applicationId: APPLICATION, instanceId: INSTANCE }, 10);
        await grants.page(ACCOUNT, 'id', 10);
      }),
    );
    const searches = plans.filter((plan) => !plan.includes('TEMP B-TREE'));
    expect(searches).toHaveLength(3);
    for (const search of searches) {
      expect(search).toMatch(/^SEARCH (sessions|consents|grants) USING INDEX \S+ \(account_id=\?/);
    }
  });

  test('what lets a person in is found by the person, without past users and workers', async () => {
    const plans = await queryPlansOf(
      under,
      reading(({ identities }) => identities.find(ACCOUNT, INSTANCE)),
    );
    for (const index of ['users_of_person', 'workers_of_person']) {
      expect(plans).toContainEqual(expect.stringMatching(`^SEARCH member USING INDEX ${index}`));
    }
    expect(plans.filter((plan) => plan.startsWith('SCAN'))).toEqual([]);
  });

  test('where a person may sign in is found without past users and workers', async () => {
    const plans = await queryPlansOf(
      under,
      reading(({ applications }) => applications.entrancesOf(ACCOUNT, 10)),
    );
    for (const [table, index] of [
      ['users', 'users_of_person'],
      ['workers', 'workers_of_person'],
    ]) {
      expect(plans).toContainEqual(`SEARCH ${table} USING INDEX ${index} (account_id=?)`);
    }
  });

  test.each(KINDS)('what is over of each $kind is found by an index', async ({ kind }) => {
    await expectSearches((database) => purgeStore(database).remove(kind, 1, 10));
  });

  test('how old the backlog of a purge is, is read from indexes', async () => {
    const overBefore = Object.fromEntries(KINDS.map(({ kind }) => [kind, 1]));
    const plans = await queryPlansOf(under, (database) => purgeStore(database).oldest(overBefore as never));
    expect(plans.filter((plan) => /^SCAN (?!aged\b|oldest\b)/.test(plan))).toEqual([]);
    for (const { table } of KINDS) {
      expect(plans).toContainEqual(expect.stringMatching(`^SEARCH ${table} USING .*INDEX`));
    }
    expect(plans.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([]);
  });
});
