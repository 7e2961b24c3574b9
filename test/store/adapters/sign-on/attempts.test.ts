import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { TurnSpacing } from '../../../../src/domain/sign-on/sessions/attempts.js';
import { databaseUnderTest, describeEachDatabase, PATIENT } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { connectionsWaiting } from '../../../support/postgres/waiting-connections.js';
import { signalled } from '../../../support/signalled.js';
import { signOnRig } from './rig.js';

const WINDOW_MS = 900_000;

describeEachDatabase('attempts', (under) => {
  async function counting() {
    const rig = await signOnRig(under);
    const count = (subject: string, at = rig.now, windowMs = WINDOW_MS) =>
      rig.run(({ attempts }) => attempts.count(subject, at, windowMs));
    return { ...rig, count };
  }

  test('are counted one by one, however many are made at once', async () => {
    const { count, now } = await counting();
    const counts = await Promise.all(Array.from({ length: 50 }, () => count('account acc_1')));
    expect(counts.map((one) => one.count).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
    expect(new Set(counts.map(({ endsAt }) => endsAt))).toEqual(new Set([now + WINDOW_MS]));
  });

  test('on one subject are none on another', async () => {
    const { count } = await counting();
    await count('account acc_1');
    expect((await count('account acc_2')).count).toBe(1);
    expect((await count('account acc_1')).count).toBe(2);
  });

  test('count again when their window is over, and do not make it longer', async () => {
    const { count, now } = await counting();
    await count('a');
    await expect(count('a', now + WINDOW_MS - 1)).resolves.toEqual({ count: 2, endsAt: now + WINDOW_MS });
    await expect(count('a', now + WINDOW_MS)).resolves.toEqual({ count: 1, endsAt: now + 2 * WINDOW_MS });
    await expect(count('a', now + WINDOW_MS)).resolves.toEqual({ count: 2, endsAt: now + 2 * WINDOW_MS });
  });

  test('made at once when a window ends begin one new window', async () => {
    const { count, now } = await counting();
    await count('a');
    const counts = await Promise.all(Array.from({ length: 50 }, () => count('a', now + WINDOW_MS)));
    expect(counts.map((one) => one.count).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
  });

  test('are forgotten by name', async () => {
    const { count, run } = await counting();
    await count('a');
    await count('b');
    await run(({ attempts }) => attempts.forget('a'));
    expect((await count('a')).count).toBe(1);
    expect((await count('b')).count).toBe(2);
  });

  test('that were no guesses are withdrawn, in the window in which they were counted', async () => {
    const { count, run, now } = await counting();
    const giveBack = (subject: string, endsAt: number) =>
      run(({ attempts }) => attempts.giveBack(subject, endsAt));
    const { endsAt } = await count('a');
    await count('b');
    await count('a');
    await giveBack('a', endsAt);
    expect((await count('a')).count).toBe(2);
    expect((await count('b')).count).toBe(2);

    const later = await count('a', now + WINDOW_MS);
    await giveBack('a', endsAt);
    expect((await count('a', now + WINDOW_MS)).count).toBe(2);
    for (let time = 0; time < 3; time += 1) {
      await giveBack('a', later.endsAt);
    }
    await giveBack('never counted', later.endsAt);
    expect((await count('a', now + WINDOW_MS)).count).toBe(1);
  });

  test('that failed with their transaction do not count', async () => {
    const { count, run, now } = await counting();
    const failing = run(async ({ attempts }) => {
      await attempts.count('a', now, WINDOW_MS);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect((await count('a')).count).toBe(1);
  });

  const spacing: TurnSpacing = { free: 2, stepMs: 10, maxSpacingMs: 25, maxWaitMs: 100, windowMs: 1_000 };

  test('get turns, each later than the last one, until none is free within the limit', async () => {
    const { run, now } = await counting();
    const take = (at = now) => run(({ attempts }) => attempts.takeTurn('a', at, spacing));
    const turns: (number | undefined)[] = [];
    for (let time = 0; time < 9; time += 1) {
      turns.push((await take())?.at);
    }
    const waits = turns.map((at) => at && at - now);
    expect(waits).toEqual([0, 0, 10, 30, 55, 80, undefined, undefined, undefined]);
    await expect(take(now + 5)).resolves.toEqual({ at: now + 105, count: 7 });
    // A later one does not wait for those before.
    await expect(take(now + 500)).resolves.toMatchObject({ at: now + 500, count: 8 });
    await expect(take(now + 1_500)).resolves.toMatchObject({ at: now + 1_500, count: 1 });
  });

  test('that had a turn are withdrawn, also where others have taken turns since, until the window is over', async () => {
    const { run, now } = await counting();
    const take = (at = now) => run(({ attempts }) => attempts.takeTurn('a', at, spacing));
    const giveBack = (at = now) => run(({ attempts }) => attempts.giveBackTurn('a', at));
    await take();
    await take(now + 10);
    await giveBack(now + 20);
    await expect(take(now + 30)).resolves.toMatchObject({ count: 2 });
    await giveBack(now + 30 + spacing.windowMs);
    await expect(take(now + 40)).resolves.toMatchObject({ count: 3 });
    for (let time = 0; time < 5; time += 1) {
      await giveBack();
    }
    await expect(take(now + 50)).resolves.toMatchObject({ count: 1 });
  });

  test('made at once get a turn each', async () => {
    const { run, now } = await counting();
    const wide = { ...spacing, maxWaitMs: 1e6 };
    const turns = await Promise.all(
      Array.from({ length: 50 }, () => run(({ attempts }) => attempts.takeTurn('a', now, wide))),
    );
    expect(new Set(turns.map((turn) => turn?.count)).size).toBe(50);
    expect(new Set(turns.map((turn) => turn?.at)).size).toBe(49);
  });

  test('that wait for a turn use it once, when it has come and before it is over', async () => {
    const { run, rows, yesesOf, now } = await counting();
    await run(({ attempts }) => attempts.keepTurn('holder', now + 10, now + 20));
    await expect(rows.attempts.waitingFor('holder', now)).resolves.toBe(now + 10);
    await expect(rows.attempts.waitingFor('another', now)).resolves.toBeUndefined();
    await expect(yesesOf(1, ({ attempts }) => attempts.useTurn('holder', now + 9))).resolves.toBe(0);
    await expect(yesesOf(1, ({ attempts }) => attempts.useTurn('holder', now + 20))).resolves.toBe(0);
    await expect(rows.attempts.waitingFor('holder', now + 20)).resolves.toBeUndefined();
    await expect(yesesOf(20, ({ attempts }) => attempts.useTurn('holder', now + 10))).resolves.toBe(1);
    await expect(rows.attempts.waitingFor('holder', now + 10)).resolves.toBeUndefined();
  });
});

describe('attempts from one network, on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('leave connections for those from other networks while they wait', async () => {
    const patient = await under.open(await under.newPlace(), PATIENT);
    const { database, run, now } = await signOnRig(under, patient);
    const count = (subject: string) => run(({ attempts }) => attempts.count(subject, now, WINDOW_MS));
    await count('one');
    const { told: locked, tell } = signalled();
    const { told: released, tell: release } = signalled();
    const holding = database.write(async (writer) => {
      await sql`select from attempt_counts where subject = 'one' for update`.execute(writer);
      tell();
      await released;
    });
    await locked;
    const waiting = Array.from({ length: 12 }, () => count('one'));
    await eventually('attempts that wait', async () => (await connectionsWaiting(database)) > 0);
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect((await count('another')).count).toBe(attempt);
    }
    expect(await connectionsWaiting(database)).toBeLessThanOrEqual(4);
    release();
    await holding;
    expect(await Promise.all(waiting)).toHaveLength(12);
  });
});
