import { describe, expect, test } from '@jest/globals';
import { observedCommits } from './observed-commits.js';

/** After so much work a group ends. */
const MAX_GROUP_MS = 50;
const BUSY = { lane: 'busy' };

describe('a group of slow writes', () => {
  const open = observedCommits();

  /** Writes that take their time by the clock, and the order of writes and commits. */
  function slow() {
    let nowMs = 0;
    const { commits, statements } = open({}, {}, undefined, () => nowMs);
    const write = (name: string, ms: number, lane?: { lane: string }, onDone?: () => void) =>
      commits.run(
        async () => {
          statements.push(name);
          nowMs += ms;
        },
        onDone,
        lane,
      );
    const done = () =>
      statements.filter((statement) => !/^(begin|savepoint|release)/.test(statement)).join(', ');
    return { write, done };
  }

  test('ends before a write that would make those before it wait', async () => {
    const { write, done } = slow();
    let own: Promise<void> | undefined;
    const busy = ['busy 1', 'busy 2', 'busy 3'].map((name, index) =>
      write(name, MAX_GROUP_MS, BUSY, () => {
        own = index === 0 ? write('own', MAX_GROUP_MS) : own;
      }),
    );
    await Promise.all(busy);
    await own;
    expect(done()).toBe('busy 1, commit, own, commit, busy 2, commit, busy 3, commit');
  });

  test('is followed by writes without a lane, for as long as those of a lane have taken', async () => {
    const { write, done } = slow();
    const busy = [1, 2, 3].map((number) => write(`busy ${number}`, 3 * MAX_GROUP_MS, BUSY));
    const own = [1, 2, 3, 4].map((number) => write(`own ${number}`, MAX_GROUP_MS));
    await Promise.all([...busy, ...own]);
    expect(done().replaceAll(', commit', '')).toBe('own 1, busy 1, own 2, own 3, own 4, busy 2, busy 3');
  });

  test('is followed by a write of a lane, however long one without a lane has taken, and only by one', async () => {
    const { write, done } = slow();
    const own = [write('long', 60 * MAX_GROUP_MS), write('own 1', 1), write('own 2', 1)];
    const busy = [1, 2, 3].map((number) => write(`busy ${number}`, MAX_GROUP_MS, BUSY));
    await Promise.all([...own, ...busy]);
    expect(done().replaceAll(', commit', '')).toBe('long, busy 1, own 1, busy 2, own 2, busy 3');
  });

  test('takes no further writes once it has worked for the longest time', async () => {
    const { write, done } = slow();
    const joining: Promise<void>[] = [];
    const join = () => {
      joining.push(write('joins', MAX_GROUP_MS / 2), write('is late', 1));
    };
    await write('first', MAX_GROUP_MS / 2, undefined, join);
    await Promise.all(joining);
    expect(done()).toBe('first, joins, commit, is late, commit');
  });

  test('is as large as the time allows, lanes and writes without a lane in turn', async () => {
    const { write, done } = slow();
    const lane = (name: string) => write(name, MAX_GROUP_MS / 4, { lane: name.charAt(0) });
    const own = (name: string) => write(name, MAX_GROUP_MS / 4);
    await Promise.all([...['a1', 'a2', 'a3', 'b1'].map(lane), ...['own 1', 'own 2'].map(own)]);
    expect(done()).toBe('own 1, a1, own 2, b1, commit, a2, a3, commit');
  });
});
