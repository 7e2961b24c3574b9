import { afterEach, expect, test } from '@jest/globals';
import type { WorkflowClient } from '@temporalio/client';
import { type CodeMinute, type CodeMinuteOptions, watchCodeMinutes } from '../../workflows/code-minutes.js';
import { codeExpiryWorkflowId, defaultCodeExpiryLimits } from '../../workflows/contract.js';
import { describeWith } from '../support/toolchains.js';
import { eventually, freePort, recordingLog, scriptedMaintenance } from './temporal-fixture.js';
import { temporalRig } from './temporal-rig.js';

const MINUTE_MS = 60_000;
const minuteAt = (index: number, overInMs = 60 * MINUTE_MS): CodeMinute => ({
  minute: new Date(Date.UTC(2026, 6, 1, 10, index)),
  // The clock of this machine decides nothing.
  expiresAt: new Date(0),
  expiresInMs: overInMs,
});
const workflowIdAt = (index: number) =>
  codeExpiryWorkflowId(`2026-07-01T10:${String(index).padStart(2, '0')}Z`);

/** The domain's list: what is marked is not listed again. `failures` are what its next calls fail with. */
function listOf(...minutes: CodeMinute[]) {
  const open = new Map(minutes.map((minute) => [minute.minute.getTime(), minute]));
  const failures = { toWatch: [] as Error[], markWatched: [] as Error[] };
  const limits: number[] = [];
  const requestIds: string[] = [];
  const failIfTold = (method: keyof typeof failures) => {
    const failure = failures[method].shift();
    if (failure) {
      throw failure;
    }
  };
  const list: CodeMinuteOptions['list'] = {
    async toWatch(limit, { requestId }) {
      limits.push(limit);
      requestIds.push(requestId);
      failIfTold('toWatch');
      return [...open.values()].slice(0, limit);
    },
    async markWatched(marked, { requestId }) {
      requestIds.push(requestId);
      failIfTold('markWatched');
      for (const minute of marked) {
        open.delete(minute.getTime());
      }
    },
  };
  return { list, open, limits, failures, requestIds };
}

describeWith('temporal', 'the watch over the minutes in which codes were issued', (executable) => {
  const { client, work, workAlone } = temporalRig(executable);
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) {
      await end();
    }
  });

  function watch(
    list: CodeMinuteOptions['list'],
    options: Partial<CodeMinuteOptions> = {},
    by?: WorkflowClient,
  ) {
    const stop = new AbortController();
    const { log, lines } = recordingLog();
    const watching = watchCodeMinutes(
      { list, log, everyMs: 50, ...options },
      by ?? client().workflow,
      stop.signal,
    );
    const end = () => {
      stop.abort();
      return watching;
    };
    ends.push(end);
    return { lines, end };
  }

  /** Instead of a server, which may be too busy to answer in time. */
  const startingWith = (start: (workflowId: string) => Promise<void>): WorkflowClient =>
    Object.create(client().workflow, {
      start: { value: (_: string, { workflowId }: { workflowId: string }) => start(workflowId) },
    });

  /** Waits for ten looks of another watch: the watch of the test had time to look again. */
  async function looksOfAnother(everyMs: number): Promise<void> {
    const another = listOf();
    watch(another.list, { everyMs });
    await eventually('ten looks', () => another.limits.length >= 10);
  }

  const allMarked = ({ open }: ReturnType<typeof listOf>) =>
    eventually('all are marked', () => open.size === 0);
  const describeAt = (index: number) => client().workflow.getHandle(workflowIdAt(index)).describe();

  test('starts a workflow for each, with minute and end in its summary, and marks it', async () => {
    const minutes = listOf(minuteAt(0), { ...minuteAt(1), expiresAt: new Date('2036-01-01T00:11:00Z') });
    watch(minutes.list);
    await allMarked(minutes);
    const [first, second] = [await describeAt(0), await describeAt(1)];
    expect([first.status.name, second.status.name]).toEqual(['RUNNING', 'RUNNING']);
    expect(await second.staticSummary()).toBe(
      'Authorization codes issued in the minute 2026-07-01T10:01Z, over at 2036-01-01T00:11Z',
    );
    expect(minutes.requestIds[0]).toMatch(/^code-minutes\/[0-9a-f-]{36}$/);
  });

  test('lets the workflow wait exactly until the codes are over, and not at all where they are', async () => {
    const minutes = listOf(minuteAt(2, 60 * MINUTE_MS), minuteAt(3, 0));
    watch(minutes.list);
    await allMarked(minutes);
    const waits = await Promise.all([2, 3].map((index) => inputOf(index).then(({ waitMs }) => waitMs)));
    expect(waits).toEqual([60 * MINUTE_MS, 0]);
    expect(await inputOf(3)).toEqual({ ...defaultCodeExpiryLimits, minute: '2026-07-01T10:03Z', waitMs: 0 });
  });

  async function inputOf(index: number) {
    const { events } = await client().workflow.getHandle(workflowIdAt(index)).fetchHistory();
    const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
    return JSON.parse(Buffer.from(payload ?? []).toString());
  }

  test('takes a workflow that runs already for its own, as after a mark that was lost', async () => {
    const minutes = listOf(minuteAt(4));
    minutes.failures.markWatched.push(new Error('the domain restarts'));
    const { lines } = watch(minutes.list);
    await allMarked(minutes);
    await eventually('the word that it goes on', () => lines.some(({ level }) => level === 'info'));
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  test('starts no second workflow for a minute after its workflow', async () => {
    // Enough for the workflows of other tests, which may be due too.
    const answer = { issued: 1, redeemed: 1, expired: 0, retryInMs: null };
    const { maintenance, calls } = scriptedMaintenance({ expiry: Array(20).fill(answer) });
    await work({ maintenance });
    const minute = minuteAt(5, 0);
    watch(listOf(minute).list);
    await eventually('the workflow', () => describeAt(5).catch(() => undefined));
    await client().workflow.getHandle(workflowIdAt(5)).result();
    const { runId } = await describeAt(5);

    const again = listOf(minute);
    watch(again.list);
    await allMarked(again);
    expect((await describeAt(5)).runId).toBe(runId);
    expect(calls.filter((call) => call.minute?.getTime() === minute.minute.getTime())).toHaveLength(1);
  });

  test('catches up in batches without waiting between them', async () => {
    const minutes = listOf(...[6, 7, 8, 9, 10].map((index) => minuteAt(index)));
    const started = startingWith(async () => undefined);
    const { end } = watch(minutes.list, { batch: 2, everyMs: 3_600_000 }, started);
    await allMarked(minutes);
    await end();
    expect(minutes.limits).toEqual([2, 2, 2]);
  });

  test('marks what it started before Temporal went away, and starts the rest when it is back', async () => {
    const minutes = listOf(minuteAt(11), minuteAt(12), minuteAt(13));
    const starts: string[] = [];
    const flaky = startingWith(async (workflowId) => {
      if (starts.push(workflowId) === 2) {
        throw new Error('connection lost');
      }
    });
    watch(minutes.list, {}, flaky);
    await allMarked(minutes);
    expect(starts).toEqual([11, 12, 12, 13].map(workflowIdAt));
  });

  test('says once that the domain is away, and once that it is back', async () => {
    const minutes = listOf();
    minutes.failures.toWatch.push(...Array.from({ length: 5 }, () => new Error('nobody answers')));
    const { lines } = watch(minutes.list);
    await eventually('two looks after it', () => minutes.limits.length >= 7);
    expect(lines.filter(({ level }) => level !== 'debug')).toEqual([
      {
        level: 'warn',
        message: 'authorization code minutes are not watched for now',
        fields: { reason: 'nobody answers' },
      },
      { level: 'info', message: 'authorization code minutes are watched again', fields: { failures: 5 } },
    ]);
  });

  test('leaves the domain in peace between two looks', async () => {
    const minutes = listOf();
    const { end } = watch(minutes.list, { everyMs: 3_600_000 });
    await eventually('the first look', () => minutes.limits.length === 1);
    await looksOfAnother(50);
    await end();
    expect(minutes.limits).toHaveLength(1);
  });

  test('is what a worker does while it polls, and ends with it', async () => {
    const minutes = listOf(minuteAt(15));
    const { log } = recordingLog();
    const options = { list: minutes.list, log, everyMs: 20 };
    const worker = await workAlone(
      {},
      {
        companions: [(workflows, stop) => watchCodeMinutes(options, workflows, stop)],
      },
    );
    await allMarked(minutes);
    await worker.shutdown();
    const looks = minutes.limits.length;
    minutes.open.set(0, minuteAt(16));
    await looksOfAnother(options.everyMs);
    expect(minutes.limits).toHaveLength(looks);
  });

  test('does not even ask the domain where a worker has no server', async () => {
    const minutes = listOf(minuteAt(17));
    const { log } = recordingLog();
    const worker = await workAlone(
      {},
      {
        address: `127.0.0.1:${await freePort()}`,
        companions: [(workflows, stop) => watchCodeMinutes({ list: minutes.list, log }, workflows, stop)],
      },
    );
    await eventually('the loss', () => worker.state.status === 'disconnected');
    expect(minutes.limits).toEqual([]);
  });
});
