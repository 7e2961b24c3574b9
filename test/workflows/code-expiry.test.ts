import { expect, test } from '@jest/globals';
import {
  type CodeExpiryInput,
  codeExpiryWorkflowId,
  queryNames,
  TASK_QUEUE,
} from '../../workflows/contract.js';
import { reasonOf } from '../../workflows/log.js';
import { describeWith } from '../support/toolchains.js';
import { eventually, quickCodeExpiry, scriptedMaintenance } from './temporal-fixture.js';
import { temporalRig } from './temporal-rig.js';

const counts = { issued: 12, redeemed: 9, expired: 3 };
const over = { ...counts, retryInMs: null };

describeWith('temporal', 'the expiry of the codes of one minute', (executable) => {
  const { client, work, workAlone } = temporalRig(executable);
  let minutes = 0;

  /** A minute that no other test has. */
  async function start(input: Partial<CodeExpiryInput> = {}) {
    const minute = `2026-07-01T10:${String(minutes++).padStart(2, '0')}Z`;
    const workflowId = codeExpiryWorkflowId(minute);
    return client().workflow.start('authorizationCodeExpiry', {
      taskQueue: TASK_QUEUE,
      workflowId,
      args: [{ ...quickCodeExpiry, minute, ...input }],
    });
  }

  test('leaves the domain alone while they are valid', async () => {
    const { maintenance, calls } = scriptedMaintenance({});
    await work({ maintenance });
    const handle = await start({ waitMs: 3_600_000 });
    const timer = await eventually('the timer', async () => {
      const { events } = await handle.fetchHistory();
      return events?.flatMap(({ timerStartedEventAttributes }) => timerStartedEventAttributes ?? [])[0];
    });
    expect(Number(timer.startToFireTimeout?.seconds)).toBe(3_600);
    expect(await handle.query(queryNames.progress)).toBeNull();
    expect(calls).toEqual([]);
    await handle.terminate();
  });

  test('asks the domain when the last of them is over, under an id that leads back to the workflow', async () => {
    const { maintenance, calls } = scriptedMaintenance({ expiry: [over] });
    await work({ maintenance });
    const handle = await start({ minute: '2026-07-01T10:59Z', waitMs: 100 });
    await handle.result();
    const { events = [] } = await handle.fetchHistory();
    const happened = (events ?? []).flatMap((event) => [
      ...(event.timerFiredEventAttributes ? ['over'] : []),
      ...(event.activityTaskScheduledEventAttributes ? ['asked'] : []),
    ]);
    expect(happened).toEqual(['over', 'asked']);
    expect(calls).toEqual([
      { requestId: `${handle.workflowId}/expire-1/1`, minute: new Date('2026-07-01T10:59:00.000Z') },
    ]);
  });

  test('tells how many were issued, redeemed and expired: in its result, its memo and its details', async () => {
    const { maintenance } = scriptedMaintenance({ expiry: [over] });
    await work({ maintenance });
    const handle = await start();
    expect(await handle.result()).toEqual(counts);
    expect(await handle.query(queryNames.progress)).toEqual(counts);
    expect((await handle.describe()).memo).toEqual(counts);
    expect(await handle.query('__temporal_workflow_metadata')).toMatchObject({
      currentDetails: '12 issued: 9 redeemed, 3 expired.',
    });
  });

  test('waits again while the domain says that some are still valid', async () => {
    const soon = () => Promise.resolve({ issued: 2, redeemed: 1, expired: 0, retryInMs: 300 });
    const { maintenance, calls } = scriptedMaintenance({
      expiry: [soon, { issued: 2, redeemed: 1, expired: 1, retryInMs: null }],
    });
    await work({ maintenance });
    const handle = await start();
    expect(await handle.result()).toEqual({ issued: 2, redeemed: 1, expired: 1 });
    expect(calls.map(({ requestId }) => requestId)).toEqual([
      `${handle.workflowId}/expire-1/1`,
      `${handle.workflowId}/expire-2/1`,
    ]);
  });

  test('never asks faster than the least wait', async () => {
    const past = { ...counts, retryInMs: 0 };
    const { maintenance } = scriptedMaintenance({ expiry: [past, over] });
    await work({ maintenance });
    const handle = await start({ leastWaitMs: 123 });
    await handle.result();
    const { events } = await handle.fetchHistory();
    const timers = events?.flatMap(({ timerStartedEventAttributes }) => timerStartedEventAttributes ?? []);
    expect(timers?.map(({ startToFireTimeout }) => startToFireTimeout)).toMatchObject([
      { nanos: 123_000_000 },
    ]);
  });

  test('fails with a sentence when codes stay valid beyond reason', async () => {
    const stillValid = { ...counts, expired: 0, retryInMs: 0 };
    const { maintenance, calls } = scriptedMaintenance({ expiry: [stillValid, stillValid, over] });
    await work({ maintenance });
    const handle = await start({ minute: '2026-07-01T11:00Z', giveUpAfterRounds: 2 });
    const failed = await handle.result().catch((error) => error);
    expect(reasonOf(failed)).toBe('Codes of 2026-07-01T11:00Z were still valid after 2 rounds.');
    expect(calls).toHaveLength(2);
  });

  test('outlasts a domain that fails for a while', async () => {
    const down = () => new Error('14 UNAVAILABLE: the domain is not there');
    const { maintenance, calls } = scriptedMaintenance({ expiry: [down(), down(), over] });
    await work({ maintenance });
    const handle = await start();
    expect(await handle.result()).toEqual(counts);
    expect(calls.map(({ requestId }) => requestId.split('/').pop())).toEqual(['1', '2', '3']);
  });

  test('is taken up by another worker when the first one goes while it waits', async () => {
    let waitMs = 1_500;
    // On a busy machine, the wait may be over before the first worker is gone.
    await eventually('a worker gone in time', async () => {
      waitMs *= 2;
      const first = scriptedMaintenance({});
      const firstWorker = await workAlone(first);
      const handle = await start({ waitMs });
      await eventually('the first task done', async () => (await handle.fetchHistory()).events?.[4]);
      await firstWorker.shutdown();
      if (first.calls.length > 0) {
        await handle.terminate();
        return false;
      }

      const second = scriptedMaintenance({ expiry: [over] });
      await workAlone(second);
      expect(await handle.result()).toEqual(counts);
      expect([first.calls.length, second.calls.length]).toEqual([0, 1]);
      return true;
    });
  });
});
