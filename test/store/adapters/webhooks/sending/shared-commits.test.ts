import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type BetterSqlite3 from 'better-sqlite3';
import type { ClaimRequest } from '../../../../../src/domain/webhooks/sending/claims/claim.js';
import { Sqlite } from '../../../../../src/store/better-sqlite3.js';
import { databaseUnderTest } from '../../../../support/databases.js';
import { LONGER_THAN_A_TEST_MS } from '../../../../support/eventually.js';
import { type SendingNode, sendingNode, sendingRig, succeeded } from './rig.js';

/** So many writes share one commit. */
const GROUP = 128;

describe('a claim that is woken before the commit of what it is woken for', () => {
  const under = databaseUnderTest('SQLite');

  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  /** A rig that counts the commits of its database, and of which a commit can be made to fail. */
  async function watched() {
    const commits = { tried: 0, fault: undefined as Error | undefined };
    const { prepare } = Sqlite.prototype;
    jest.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (
      this: BetterSqlite3.Database,
      source,
    ) {
      const statement = prepare.call(this, source);
      if (source === 'commit') {
        const run = statement.run.bind(statement) as () => BetterSqlite3.RunResult;
        statement.run = () => {
          commits.tried += 1;
          const { fault } = commits;
          commits.fault = undefined;
          if (fault) {
            throw fault;
          }
          return run();
        };
      }
      return statement;
    } as typeof prepare);
    return { ...(await sendingRig(under)), commits };
  }

  /** A waiting claim that no longer looks by itself. */
  async function waitingClaim({ deliveriesDue, claim }: SendingNode, request: Partial<ClaimRequest> = {}) {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const news = jest.spyOn(deliveriesDue, 'news');
    const waits = new Promise<void>((resolve) => {
      news.mockImplementationOnce((...parameters) => {
        news.mockRestore();
        const told = deliveriesDue.news(...parameters);
        resolve();
        return told;
      });
    });
    const waiting = claim({ maxWaitMs: LONGER_THAN_A_TEST_MS, ...request });
    await waits;
    return { waiting };
  }

  test('shares that commit', async () => {
    const { commits, ...rig } = await watched();
    await rig.subscribe();
    const { waiting } = await waitingClaim(rig);
    const before = commits.tried;
    await rig.happen();
    const { deliveries } = await waiting;
    expect(commits.tried).toBe(before + 1);
    expect(deliveries).toHaveLength(1);
    expect(await rig.deliveries()).toMatchObject([{ id: deliveries[0]?.id, attempts_begun: 1 }]);
  });

  test('shares the commit of ended attempts, which make room for it', async () => {
    const { commits, ...rig } = await watched();
    await rig.subscribe();
    await rig.happen();
    const ended = await rig.claimOne();
    await rig.happen();
    const { waiting } = await waitingClaim(rig, { maxRunningPerSubscription: 1 });
    const before = commits.tried;
    await rig.record(succeeded(ended));
    expect((await waiting).deliveries).toHaveLength(1);
    expect(commits.tried).toBe(before + 1);
  });

  test('claims nothing when that commit fails, and no attempt is burnt', async () => {
    const { commits, ...rig } = await watched();
    const other = sendingNode(rig.database, rig.connection, rig.clock);
    await rig.subscribe();
    const { waiting } = await waitingClaim(rig);
    // Due already, which the claim would take along.
    await other.happen();
    const before = commits.tried;
    commits.fault = new Error('disk I/O error');
    const outcomes = await Promise.allSettled([rig.happen(), waiting]);
    expect(outcomes).toMatchObject(
      Array(2).fill({ status: 'rejected', reason: { message: 'disk I/O error' } }),
    );
    expect(commits.tried).toBe(before + 1);
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0, lease_until: null }]);
    const [delivery] = await rig.deliveries();
    expect(await rig.claimOne()).toBe(delivery?.id);
  });

  test('waits on when that commit fails without it, and takes the next', async () => {
    const { commits, ...rig } = await watched();
    await rig.subscribe();
    const { waiting } = await waitingClaim(rig);
    const before = commits.tried;
    commits.fault = new Error('disk I/O error');
    // A full group, for which there is one claim too many.
    const happening = Array.from({ length: GROUP }, () => rig.happen());
    const outcomes = await Promise.allSettled(happening);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    await rig.happen();
    expect((await waiting).deliveries).toHaveLength(1);
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 1 }]);
    // That of the events, that of the claim which found nothing, and that of the one event with the claim.
    expect(commits.tried).toBe(before + 3);
  });
});
