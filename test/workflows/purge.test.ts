import { expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import {
  defaultPurgeInput,
  type PurgeInput,
  type PurgeProgress,
  queryNames,
  TASK_QUEUE,
} from '../../workflows/contract.js';
import { reasonOf } from '../../workflows/log.js';
import { describeWith } from '../support/toolchains.js';
import { eventually, quickPurge, scriptedMaintenance } from './temporal-fixture.js';
import { temporalRig } from './temporal-rig.js';

describeWith('temporal', 'the purge', (executable) => {
  const { client, work, workAlone } = temporalRig(executable);

  const start = (workflowId: string, input: Partial<PurgeInput> = {}) =>
    client().workflow.start('purge', {
      taskQueue: TASK_QUEUE,
      workflowId,
      args: [{ ...quickPurge, ...input }],
    });

  test('asks in bounded batches until nothing is left, and returns what it deleted', async () => {
    const { maintenance, calls } = scriptedMaintenance({
      purge: [
        { deleted: { sessions: 10, codes: 0 }, more: true },
        { deleted: { sessions: 3, deliveries: 7 }, more: true },
        { deleted: {}, more: false },
      ],
    });
    await work({ maintenance });
    const handle = await start('purge-in-batches');
    const result: PurgeProgress = await handle.result();
    expect(result).toEqual({ batches: 3, deleted: { sessions: 13, codes: 0, deliveries: 7 }, more: false });
    expect(calls.map(({ limit }) => limit)).toEqual([10, 10, 10]);
    expect(await handle.query(queryNames.progress)).toEqual(result);
  });

  test('makes many batches in one activity and waits for no timer of Temporal, with the input of the schedule', async () => {
    const { maintenance, calls } = scriptedMaintenance({
      purge: [
        { deleted: { sessions: 500 }, more: true },
        { deleted: { sessions: 300, codes: 200 }, more: true },
        { deleted: { codes: 1 }, more: false },
      ],
    });
    await work({ maintenance });
    const handle = await start('purge-in-steps', { ...defaultPurgeInput, stepMs: 60_000 });
    expect(await handle.result()).toEqual({
      batches: 1,
      deleted: { sessions: 800, codes: 201 },
      more: false,
    });
    expect(calls.map(({ requestId }) => requestId)).toEqual(Array(3).fill('purge-in-steps/batch-1/1'));

    await work({
      maintenance: scriptedMaintenance({
        purge: [
          { deleted: { codes: 1 }, more: true },
          { deleted: { codes: 1 }, more: false },
        ],
      }).maintenance,
    });
    const stepwise = await start('purge-without-timers', { ...defaultPurgeInput, stepMs: 1 });
    expect(await stepwise.result()).toMatchObject({ batches: 2 });
    const { events } = await stepwise.fetchHistory();
    expect(events?.filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes)).toEqual([]);
  });

  test('names the workflow and the activity in each request id', async () => {
    const { maintenance, calls } = scriptedMaintenance({
      purge: [
        { deleted: { codes: 1 }, more: true },
        new Error('the domain restarts'),
        { deleted: { codes: 1 }, more: false },
      ],
    });
    await work({ maintenance });
    await (await start('purge-request-ids')).result();
    expect(calls.map(({ requestId }) => requestId)).toEqual([
      'purge-request-ids/batch-1/1',
      'purge-request-ids/batch-2/1',
      'purge-request-ids/batch-2/2',
    ]);
  });

  test('continues as new when its batches are used up, carrying its counts and its batch numbers', async () => {
    const { maintenance, calls } = scriptedMaintenance({
      purge: [
        ...Array.from({ length: 4 }, () => ({ deleted: { grants: 2 }, more: true })),
        { deleted: { grants: 1 }, more: false },
      ],
    });
    await work({ maintenance });
    const handle = await start('purge-as-new', { batchesPerRun: 2 });
    expect(await handle.result()).toEqual({ batches: 5, deleted: { grants: 9 }, more: false });
    expect(calls.at(-1)?.requestId).toBe('purge-as-new/batch-5/1');
    expect((await client().workflow.getHandle('purge-as-new').describe()).runId).not.toBe(
      handle.firstExecutionRunId,
    );
  });

  test('outlasts a domain that fails for a while', async () => {
    const down = () => new Error('14 UNAVAILABLE: the domain is not there');
    const { maintenance } = scriptedMaintenance({
      purge: [down(), down(), down(), { deleted: { codes: 4 }, more: false }],
    });
    await work({ maintenance });
    expect(await (await start('purge-outlasts')).result()).toMatchObject({
      batches: 1,
      deleted: { codes: 4 },
    });
  });

  test('fails with the reason when the domain fails too often', async () => {
    const { maintenance } = scriptedMaintenance({
      purge: Array.from({ length: 100 }, () => new Error('the disk is full')),
    });
    await work({ maintenance });
    const failed = await (await start('purge-gives-up', { giveUpAfterAttempts: 3 }))
      .result()
      .catch((error) => error);
    expect(failed).toBeInstanceOf(WorkflowFailedError);
    expect(reasonOf(failed)).toBe('the disk is full');
  });

  test('continues through batches that count nothing, as where the domain clears up for itself', async () => {
    const { maintenance } = scriptedMaintenance({
      purge: [
        { deleted: {}, more: true },
        { deleted: { sessions: 1 }, more: true },
        { deleted: {}, more: false },
      ],
    });
    await work({ maintenance });
    expect(await (await start('purge-uncounted')).result()).toEqual({
      batches: 3,
      deleted: { sessions: 1 },
      more: false,
    });
  });

  test('fails rather than loop for ever on rows that cannot be deleted', async () => {
    const stuck = { deleted: { codes: 0 }, more: true };
    const { maintenance, calls } = scriptedMaintenance({ purge: [stuck, stuck, stuck] });
    await work({ maintenance });
    const failed = await (await start('purge-stuck', { batchesPerRun: 2 })).result().catch((error) => error);
    expect(failed.cause.message).toBe(
      'The domain reports expired rows, but a whole run of batches deleted none of them.',
    );
    expect(calls).toHaveLength(2);
  });

  test('keeps the counts of a step that ends early because its worker stops', async () => {
    const first = scriptedMaintenance({
      purge: Array.from({ length: 2 }, () => ({ deleted: { sessions: 10 }, more: true })),
    });
    const firstWorker = await workAlone(first, { shutdownGraceMs: 200 });
    const handle = await start('purge-stopped-step', { stepMs: 60_000, restMs: 60_000 });
    await eventually('the first batch', () => first.calls.length === 1);
    await firstWorker.shutdown();

    const second = scriptedMaintenance({ purge: [{ deleted: { sessions: 5 }, more: false }] });
    await workAlone(second);
    expect(await handle.result()).toEqual({ batches: 2, deleted: { sessions: 15 }, more: false });
    expect(second.calls.map(({ requestId }) => requestId)).toEqual(['purge-stopped-step/batch-2/1']);
  });

  test('keeps the counts of a step in which a later batch fails', async () => {
    const { maintenance, calls } = scriptedMaintenance({
      purge: [
        { deleted: { sessions: 10 }, more: true },
        new Error('the domain restarts'),
        { deleted: { sessions: 5 }, more: false },
      ],
    });
    await work({ maintenance });
    const handle = await start('purge-failing-step', { stepMs: 60_000 });
    expect(await handle.result()).toEqual({ batches: 2, deleted: { sessions: 15 }, more: false });
    expect(calls.at(-1)?.requestId).toBe('purge-failing-step/batch-2/1');
  });

  test('is finished by another worker when the first one goes in the middle of a batch', async () => {
    const first = scriptedMaintenance({
      purge: [
        { deleted: { sessions: 10 }, more: true },
        (signal) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('the call was cancelled')));
          }),
      ],
    });
    const firstWorker = await workAlone(first, { shutdownGraceMs: 200 });
    const handle = await start('purge-restart');
    await eventually('the second batch under way', () => first.calls.length === 2);
    expect(await handle.query(queryNames.progress)).toMatchObject({ batches: 1, more: true });
    await firstWorker.shutdown();

    const second = scriptedMaintenance({ purge: [{ deleted: { sessions: 5 }, more: false }] });
    await workAlone(second);
    expect(await handle.result()).toEqual({ batches: 2, deleted: { sessions: 15 }, more: false });
    expect(second.calls[0]?.requestId).toMatch(/^purge-restart\/batch-2\//);
  });
});
