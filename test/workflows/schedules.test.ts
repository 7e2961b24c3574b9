import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { defaultPurgeInput, defaultSigningKeyRotationInput, scheduleIds } from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { inspectTemporal } from '../../workflows/inspection.js';
import { ensureSchedules } from '../../workflows/schedules.js';
import { describeWith } from '../support/toolchains.js';
import {
  connectClient,
  eventually,
  FAR_AWAY_MS,
  farAway,
  NAMESPACE,
  removeSchedules,
  startServer,
} from './temporal-fixture.js';

describeWith('temporal', 'the schedules', (executable) => {
  let server: DevServer;
  let client: Client;

  beforeAll(async () => {
    server = await startServer(executable);
    client = await connectClient(server.address);
  });
  beforeEach(() => removeSchedules(client));
  afterAll(async () => {
    await client?.connection.close();
    await server?.stop();
  });

  const describeOf = (id: string) => client.schedule.getHandle(id).describe();
  const describePurge = () => describeOf('purge');
  const rotationUnchanged = { 'signing-key-rotation': 'unchanged' };

  test('purge at the interval of the settings, never two at once, and catch up one run at most', async () => {
    await ensureSchedules(client.schedule, farAway);
    const { spec, action, policies, info } = await describePurge();
    expect(spec.intervals?.map(({ every }) => every)).toEqual([FAR_AWAY_MS]);
    expect(spec.jitter).toBe(60_000);
    expect(policies).toEqual({ overlap: 'SKIP', catchupWindow: FAR_AWAY_MS, pauseOnFailure: false });
    expect(action).toMatchObject({ workflowType: 'purge', workflowId: 'purge', args: [defaultPurgeInput] });
    expect(action.staticSummary).toMatch(
      /^Deletes what is past its retention: .*sessions.*deliveries.*API keys/,
    );
    expect(info.nextActionTimes).not.toHaveLength(0);
  });

  test('are missing, late, running or paused for an inspection', async () => {
    const inspected = async (now = Date.now()) => {
      const place = { address: server.address, namespace: NAMESPACE };
      // A busy server may take longer to answer than an inspection waits.
      return eventually('an answer of Temporal', async () => {
        const { problem, schedules } = await inspectTemporal(place, () => now);
        return problem === undefined && schedules;
      });
    };
    const each = (words: string) => Object.values(scheduleIds).map((id) => `the schedule ${id} ${words}`);
    expect(await inspected()).toEqual(each('does not exist'));
    await ensureSchedules(client.schedule, farAway);
    expect(await inspected()).toEqual([]);
    expect(await inspected(Date.now() + 4 * FAR_AWAY_MS)).toEqual(
      each('has not run since').map((words) => expect.stringContaining(words)),
    );
    // As the schedule itself starts it; without a worker it does not end.
    await client.schedule.getHandle('purge').trigger('SKIP');
    await eventually('the purge', async () => (await describePurge()).info.runningActions.length > 0);
    expect(await inspected(Date.now() + 4 * FAR_AWAY_MS)).toEqual([
      expect.stringContaining('the run of the schedule purge that began at '),
      expect.stringContaining('the schedule signing-key-rotation has not run since'),
    ]);
    const [running] = (await describePurge()).info.runningActions;
    // Its id has the second of its start: the next test may start another one in the same second.
    await client.workflow.getHandle(running?.workflow.workflowId ?? '').terminate();
    await client.schedule.getHandle('purge').pause('for a test');
    expect(await inspected()).toEqual(['the schedule purge is paused: for a test']);
  });

  test('look at the interval of the settings for steps of the signing keys that are due', async () => {
    await ensureSchedules(client.schedule, farAway);
    const { spec, action, policies } = await describeOf('signing-key-rotation');
    expect(spec.intervals?.map(({ every }) => every)).toEqual([FAR_AWAY_MS]);
    expect(policies).toEqual({ overlap: 'SKIP', catchupWindow: FAR_AWAY_MS, pauseOnFailure: false });
    expect(action).toMatchObject({
      workflowType: 'signingKeyRotation',
      workflowId: 'signing-key-rotation',
      args: [defaultSigningKeyRotationInput],
      staticSummary: 'Publishes, activates and retires signing keys that are due',
    });
  });

  test('begin with a run where the settings say so, and only when they are made', async () => {
    const settings = { ...farAway, startAtOnce: true };
    await ensureSchedules(client.schedule, settings);
    await ensureSchedules(client.schedule, settings);
    const countOf = async (id: string) => (await describeOf(id)).info.numActionsTaken;
    const counts = () => Promise.all(Object.values(scheduleIds).map(countOf));
    await eventually('the runs', async () => (await counts()).every((count) => count === 1));
    await ensureSchedules(client.schedule, { ...settings, purgeIntervalMs: 2 * FAR_AWAY_MS });
    expect(await counts()).toEqual([1, 1]);
  });

  test('are created once and then left alone', async () => {
    expect(await ensureSchedules(client.schedule, farAway)).toEqual({
      purge: 'created',
      'signing-key-rotation': 'created',
    });
    const { info } = await describePurge();
    expect(await ensureSchedules(client.schedule, farAway)).toEqual({
      purge: 'unchanged',
      ...rotationUnchanged,
    });
    const again = await describePurge();
    expect(again.info.lastUpdatedAt).toEqual(info.lastUpdatedAt);
  });

  test('end a run that is stuck, also where an earlier release made them', async () => {
    await ensureSchedules(client.schedule, farAway);
    const limitOf = async () => {
      const { action } = await describePurge();
      return action.workflowRunTimeout;
    };
    const made = await limitOf();
    expect(made).toBeGreaterThan(0);
    await client.schedule.getHandle('purge').update(({ action, ...others }) => {
      const { workflowRunTimeout: _, ...unlimited } = action;
      return { ...others, action: unlimited };
    });
    expect(await limitOf()).toBeUndefined();
    expect(await ensureSchedules(client.schedule, farAway)).toMatchObject({ purge: 'updated' });
    expect(await limitOf()).toBe(made);
  });

  test('follow a changed setting', async () => {
    await ensureSchedules(client.schedule, farAway);
    const settings = { ...farAway, purgeIntervalMs: 2 * FAR_AWAY_MS };
    expect(await ensureSchedules(client.schedule, settings)).toEqual({
      purge: 'updated',
      ...rotationUnchanged,
    });
    expect(await ensureSchedules(client.schedule, settings)).toEqual({
      purge: 'unchanged',
      ...rotationUnchanged,
    });
    const { spec, action } = await describePurge();
    expect(spec.intervals?.map(({ every }) => every)).toEqual([2 * FAR_AWAY_MS]);
    expect(action.args).toEqual([defaultPurgeInput]);
  });

  test('stay paused when an operator has paused them, whatever changes', async () => {
    await ensureSchedules(client.schedule, farAway);
    await client.schedule.getHandle('purge').pause('the disk is being copied');
    expect(await ensureSchedules(client.schedule, farAway)).toEqual({
      purge: 'unchanged',
      ...rotationUnchanged,
    });
    await ensureSchedules(client.schedule, { ...farAway, purgeIntervalMs: 2 * FAR_AWAY_MS });
    expect((await describePurge()).state).toMatchObject({ paused: true, note: 'the disk is being copied' });
  });

  test('are created once when several workers start together', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, () => ensureSchedules(client.schedule, farAway)),
    );
    expect(outcomes.map(({ purge }) => purge).sort()).toEqual([
      'created',
      'unchanged',
      'unchanged',
      'unchanged',
    ]);
  });
});
