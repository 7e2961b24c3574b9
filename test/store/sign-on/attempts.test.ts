import { expect, test } from '@jest/globals';
import { describeEachDatabase } from '../../support/databases.js';
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
    const counts = await Promise.all(Array.from({ length: 100 }, () => count('account acc_1')));
    expect(counts.map((one) => one.count).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
    expect(new Set(counts.map(({ endsAt }) => endsAt))).toEqual(new Set([now + WINDOW_MS]));
  });

  test('on one subject are none on another', async () => {
    const { count } = await counting();
    await count('account acc_1');
    expect((await count('account acc_2')).count).toBe(1);
    expect((await count('account acc_1')).count).toBe(2);
  });

  test('count anew when their window is over, and do not make it longer', async () => {
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

  test('that were no guesses are taken back, in the window in which they were counted', async () => {
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

  test('know the addresses that a person has signed in from, for a time that each sign-in renews', async () => {
    const { run, rows, newAccount, now } = await counting();
    const [person, neighbour] = [await newAccount(), await newAccount()];
    const remember = (until: number) =>
      run(({ attempts }) => attempts.rememberAddress(person, 'address-hash', until));
    const isKnown = (at: number) => rows.attempts.isKnownAddress(person, 'address-hash', at);
    await expect(isKnown(now)).resolves.toBe(false);

    await remember(now + 10);
    await expect(isKnown(now + 9)).resolves.toBe(true);
    await expect(isKnown(now + 10)).resolves.toBe(false);
    await expect(rows.attempts.isKnownAddress(person, 'another', now)).resolves.toBe(false);
    await expect(rows.attempts.isKnownAddress(neighbour, 'address-hash', now)).resolves.toBe(false);

    await Promise.all(Array.from({ length: 10 }, () => remember(now + 20)));
    await expect(isKnown(now + 19)).resolves.toBe(true);
  });
});
