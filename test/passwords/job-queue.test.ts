import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ErrorCode, type ServiceError } from '../../src/errors/service-error.js';
import type { StartThread } from '../../src/passwords/job-queue.js';
import { JobQueue, type JobQueueOptions } from '../../src/passwords/job-queue.js';
import type { PasswordAnswer, PasswordJob } from '../../src/passwords/password-thread.js';
import { signalled } from '../support/signalled.js';

interface Held {
  job: PasswordJob;
  answer(answer?: PasswordAnswer): void;
  die(): void;
}

/** A queue with threads that answer, and die, at the test's command. */
function queueRig({ threads = 1, maxWaitMs = 10_000, ...others }: Partial<JobQueueOptions> = {}) {
  const held: Held[] = [];
  const deaths: unknown[] = [];
  let started = 0;
  const system = { hasThreads: true };
  const { told: ended, tell: noteEnd } = signalled();
  const end = { takes: Promise.resolve() };
  const start: StartThread = (onEnd) => {
    if (!system.hasThreads) {
      throw new Error('EAGAIN');
    }
    started += 1;
    let rejectPresent: (cause: unknown) => void = () => undefined;
    return {
      do: (job) =>
        new Promise((resolve, reject) => {
          rejectPresent = reject;
          held.push({
            job,
            answer: (answer = { matches: true }) => resolve(answer),
            die: () => {
              onEnd(new Error('killed'));
              reject(new Error('killed'));
            },
          });
        }),
      end: async () => {
        noteEnd();
        await end.takes;
        onEnd(new Error('ended'));
        rejectPresent(new Error('ended'));
      },
    };
  };
  const queue = new JobQueue({
    threads,
    maxWaitMs,
    leastWaiting: 0,
    idleMs: 60_000,
    start,
    ...others,
    onThreadDeath: (cause) => deaths.push(cause),
  });
  const ask = (password: string, lane = 'a network', displaces = false) =>
    queue.do({ password }, lane, displaces);
  const refusal = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { queue, ask, refusal, settle, held, deaths, ended, end, system, started: () => started };
}

/** Time stands still: on a busy machine, jobs would last, or wait, too long for their limits. */
let clock: jest.SpiedFunction<typeof performance.now>;
beforeEach(() => {
  clock = jest.spyOn(performance, 'now').mockReturnValue(0);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('threads', () => {
  test('are started when they are needed, as many as there may be, and used again', async () => {
    const { ask, settle, held, started } = queueRig({ threads: 2 });
    expect(started()).toBe(0);
    const first = ask('one');
    expect(started()).toBe(1);
    held[0]?.answer();
    await first;
    const others = [ask('two'), ask('three'), ask('four')];
    expect([started(), held.length]).toEqual([2, 3]);
    held[1]?.answer();
    await settle();
    expect(held.map(({ job }) => job.password)).toEqual(['one', 'two', 'three', 'four']);
    held[2]?.answer();
    held[3]?.answer();
    await expect(Promise.all(others)).resolves.toHaveLength(3);
    expect(started()).toBe(2);
  });

  test('that die are replaced, and what they worked on is done by another, before what waits', async () => {
    const { ask, settle, held, deaths, started } = queueRig();
    const asked = [ask('one'), ask('two')];
    held[0]?.die();
    await settle();
    expect([started(), deaths.length, held.at(-1)?.job.password]).toEqual([2, 1, 'one']);
    held[1]?.answer({ hash: 'a hash' });
    await settle();
    held[2]?.answer();
    await expect(Promise.all(asked)).resolves.toEqual([{ hash: 'a hash' }, { matches: true }]);
  });

  test('without a job for a time are ended, and the next job starts another', async () => {
    const { ask, held, deaths, ended, started } = queueRig({ idleMs: 1 });
    const first = ask('one');
    held[0]?.answer();
    await first;
    await ended;
    const second = ask('two');
    expect([started(), held[1]?.job.password]).toEqual([2, 'two']);
    held[1]?.answer();
    await expect(second).resolves.toEqual({ matches: true });
    expect(deaths).toEqual([]);
  });

  test('with a job are not ended when others are', async () => {
    const { ask, held, ended, started } = queueRig({ threads: 2, idleMs: 1 });
    const [long, short] = [ask('long'), ask('short')];
    held[1]?.answer();
    await short;
    await ended;
    held[0]?.answer();
    await expect(long).resolves.toEqual({ matches: true });
    const next = ask('next');
    expect(started()).toBe(2);
    held[2]?.answer();
    await next;
  });

  test('that end without a job are gone once the queue is closed', async () => {
    const { queue, ask, settle, held, ended, end } = queueRig({ idleMs: 1 });
    let release: () => void = () => undefined;
    end.takes = new Promise((resolve) => {
      release = resolve;
    });
    const first = ask('one');
    held[0]?.answer();
    await first;
    await ended;
    let isClosed = false;
    const closing = queue.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).toBe(false);
    release();
    await closing;
  });

  test('that cannot be started refuse what waits, and are tried again by the next job', async () => {
    const { ask, refusal, settle, held, deaths, system } = queueRig({ threads: 2, leastWaiting: 1 });
    system.hasThreads = false;
    const refused = await Promise.all(['one', 'two', 'three'].map((password) => refusal(ask(password))));
    expect(refused).toMatchObject(Array(3).fill({ code: ErrorCode.UNAVAILABLE }));
    expect(deaths).toHaveLength(1);
    system.hasThreads = true;
    const next = ask('next');
    system.hasThreads = false;
    const waiting = ask('waiting');
    expect(deaths).toHaveLength(2);
    held[0]?.answer();
    await expect(next).resolves.toEqual({ matches: true });
    await settle();
    held[1]?.answer();
    await expect(waiting).resolves.toEqual({ matches: true });
  });

  test('that cannot be started leave the waiting jobs to the running ones', async () => {
    const { ask, settle, held, system } = queueRig({ threads: 2 });
    const first = ask('one');
    system.hasThreads = false;
    const others = [ask('two'), ask('three')];
    for (const place of [0, 1, 2]) {
      held[place]?.answer();
      await settle();
    }
    await expect(Promise.all([first, ...others])).resolves.toHaveLength(3);
  });

  test('are not ended one after the other by one job', async () => {
    const { ask, refusal, settle, held, deaths } = queueRig();
    const [fatal, other] = [refusal(ask('fatal')), ask('other')];
    held[0]?.die();
    await settle();
    held[1]?.die();
    await expect(fatal).resolves.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    await settle();
    held[2]?.answer();
    await expect(other).resolves.toEqual({ matches: true });
    expect(deaths).toHaveLength(2);
  });
});

describe('jobs that wait', () => {
  test('are refused once they would wait too long, and taken again when the queue is shorter', async () => {
    // A job is first taken to last 50 ms: one at work and four waiting are 200 ms.
    const { ask, refusal, settle, held } = queueRig({ maxWaitMs: 200 });
    const asked = Array.from({ length: 5 }, (_, index) => ask(`${index}`));
    const refused = await refusal(ask('one too many'));
    expect(refused).toMatchObject({ code: ErrorCode.UNAVAILABLE, retryAfterSeconds: 1 });
    held[0]?.answer();
    await asked[0];
    await settle();
    asked.push(ask('again'));
    for (let index = 1; index < 6; index += 1) {
      held[index]?.answer();
      await settle();
    }
    await expect(Promise.all(asked)).resolves.toHaveLength(6);
  });

  test('are not refused because threads took long to start', async () => {
    // With an average of 50 ms, four may wait; with the start in it, none.
    const { ask, settle, held, ended } = queueRig({ maxWaitMs: 200, idleMs: 1 });
    const slowStart = ask('first of a thread');
    clock.mockReturnValue(10_000);
    held[0]?.answer();
    await slowStart;
    await ended;
    const asked = Array.from({ length: 5 }, (_, index) => ask(`${index}`));
    for (let job = 1; job <= asked.length; job += 1) {
      held[job]?.answer();
      await settle();
    }
    await expect(Promise.all(asked)).resolves.toHaveLength(5);
  });

  test('take turns by lane, in their order within each', async () => {
    const { ask, settle, held } = queueRig();
    const asked = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((password) => ask(password, password.charAt(0)));
    for (const place of asked.keys()) {
      held[place]?.answer();
      await settle();
    }
    await Promise.all(asked);
    expect(held.map(({ job }) => job.password)).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  test('of a lane that floods are refused, and not those of others, which soon have their turn', async () => {
    // One at work and four waiting are 200 ms.
    const { ask, settle, held, queue } = queueRig({ maxWaitMs: 200 });
    const refused: string[] = [];
    const askFor = (password: string) =>
      ask(password, password.charAt(0)).catch(() => {
        refused.push(password);
      });
    const asked = Array.from({ length: 200 }, (_, index) => askFor(`a${index}`));
    await settle();
    expect(refused).toHaveLength(195);
    for (const password of ['b1', 'a again', 'c1', 'b2', 'd1']) {
      asked.push(askFor(password));
      await settle();
    }
    // What is refused: the newest of the longest lane, or the newcomer if no lane is longer than its own.
    expect(refused.slice(195)).toEqual(['a4', 'a again', 'a3', 'b2', 'a2']);
    for (const place of [0, 1, 2]) {
      held[place]?.answer();
      await settle();
    }
    expect(held.map(({ job }) => job.password)).toEqual(['a0', 'a1', 'b1', 'c1']);
    await queue.close();
    await Promise.all(asked);
  });

  test('of as many lanes as may wait refuse one of another lane', async () => {
    const { ask, refusal, queue } = queueRig({ maxWaitMs: 200 });
    const asked = ['a', 'b', 'c', 'd', 'e'].map((lane) => refusal(ask('waits', lane)));
    await expect(refusal(ask('one too many', 'f'))).resolves.toMatchObject({ retryAfterSeconds: 1 });
    await queue.close();
    await Promise.all(asked);
  });

  test('of as many lanes as may wait make room for those that displace another, which then stay', async () => {
    const { ask, settle, held, queue } = queueRig({ maxWaitMs: 200 });
    const refused: string[] = [];
    const asked = ['a', 'b', 'c', 'd', 'e'].map((lane) => ask(lane, lane).catch(() => refused.push(lane)));
    const known = ask('known', 'f', true);
    const flood = [ask('of its own lane', 'f'), ask('of another', 'g')].map((one) =>
      one.catch(() => 'refused'),
    );
    const alsoKnown = ask('known too', 'f', true);
    await settle();
    expect(refused).toEqual(['e', 'd']);
    await expect(Promise.all(flood)).resolves.toEqual(['refused', 'refused']);
    for (let place = 0; place < 5; place += 1) {
      held[place]?.answer();
      await settle();
    }
    await expect(Promise.all([known, alsoKnown])).resolves.toEqual([{ matches: true }, { matches: true }]);
    await Promise.all(asked);
    await queue.close();
  });

  test('are given up when they have waited too long, those behind others in their lane too', async () => {
    const { ask, settle, held } = queueRig({ maxWaitMs: 200 });
    const refused: string[] = [];
    const atWork = ask('at work');
    const late = ['a1', 'a2', 'a3', 'b1'].map((password) =>
      ask(password, password.charAt(0)).catch(({ code }: ServiceError) => {
        refused.push(`${password} ${code}`);
      }),
    );
    clock.mockReturnValue(3_000);
    held[0]?.answer();
    await atWork;
    await settle();
    expect(refused).toEqual([]);
    clock.mockReturnValue(3_001);
    const inTime = ask('in time', 'c');
    await settle();
    expect(refused.sort()).toEqual(
      ['a2', 'a3', 'b1'].map((password) => `${password} ${ErrorCode.UNAVAILABLE}`),
    );
    held[1]?.answer();
    await settle();
    held[2]?.answer();
    await Promise.all([...late, inTime]);
    expect(held.map(({ job }) => job.password)).toEqual(['at work', 'a1', 'in time']);
  });

  test('may be a few for each thread, however long they wait', async () => {
    const { ask, refusal, queue } = queueRig({ threads: 2, maxWaitMs: 2_000, leastWaiting: 60 });
    const asked = Array.from({ length: 2 + 120 }, (_, index) => refusal(ask(`${index}`)));
    await expect(refusal(ask('one too many'))).resolves.toMatchObject({ retryAfterSeconds: 4 });
    await queue.close();
    // What was not refused before is refused now, without a time to come back.
    const ends = (await Promise.all(asked)) as ServiceError[];
    expect(ends.map(({ retryAfterSeconds }) => retryAfterSeconds)).toEqual(asked.map(() => 1));
  });

  test('are told in seconds when to come back', async () => {
    const { ask, refusal, queue } = queueRig({ maxWaitMs: 4_000 });
    const asked = Array.from({ length: 81 }, (_, index) => refusal(ask(`${index}`)));
    await expect(refusal(ask('one too many'))).resolves.toMatchObject({ retryAfterSeconds: 5 });
    await queue.close();
    await Promise.all(asked);
  });

  test('are refused when the queue is closed, and so is the one at work', async () => {
    const { ask, refusal, queue, deaths } = queueRig();
    const asked = [refusal(ask('at work')), refusal(ask('waits'))];
    await queue.close();
    for (const each of [...asked, refusal(ask('late'))]) {
      await expect(each).resolves.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    }
    expect(deaths).toEqual([]);
  });
});

test('a watched queue tells who waits, each work that was done, and each refusal', async () => {
  const told = { waiting: () => Number.NaN, worked: 0, refused: 0 };
  const { ask, refusal, settle, held, queue } = queueRig({
    maxWaitMs: 60,
    watch: {
      waiting: (count) => {
        told.waiting = count;
      },
      worked: () => {
        told.worked += 1;
      },
      refused: () => {
        told.refused += 1;
      },
    },
  });
  const asked = [ask('at work'), ask('waits')];
  expect(told.waiting()).toBe(1);
  await expect(refusal(ask('one too many'))).resolves.toMatchObject({ code: ErrorCode.UNAVAILABLE });
  expect(told).toMatchObject({ worked: 0, refused: 1 });
  held[0]?.answer();
  await asked[0];
  await settle();
  expect(told.waiting()).toBe(0);
  held[1]?.answer();
  await asked[1];
  expect(told.worked).toBe(2);
  await queue.close();
});
