import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { defaultPurgeInput } from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { ensureSchedules } from '../../workflows/schedules.js';
import { describeWith } from '../support/toolchains.js';
import { connectClient, startServer } from './temporal-fixture.js';

const hourMs = 3_600_000;

describeWith('temporal', 'the schedules', (executable) => {
  let server: DevServer;
  let client: Client;

  beforeAll(async () => {
    server = await startServer(executable);
    client = await connectClient(server.address);
  }, 60_000);
  beforeEach(async () => {
    await client.schedule
      .getHandle('purge')
      .delete()
      .catch(() => undefined);
  });
  afterAll(async () => {
    await client?.connection.close();
    await server?.stop();
  });

  const describePurge = () => client.schedule.getHandle('purge').describe();

  test('purge hourly by default, never two at once, and catch up one run at most', async () => {
    await ensureSchedules(client.schedule);
    const { spec, action, policies, info } = await describePurge();
    expect(spec.intervals?.map(({ every }) => every)).toEqual([hourMs]);
    expect(spec.jitter).toBe(60_000);
    expect(policies).toEqual({ overlap: 'SKIP', catchupWindow: hourMs, pauseOnFailure: false });
    expect(action).toMatchObject({ workflowType: 'purge', workflowId: 'purge', args: [defaultPurgeInput] });
    expect(action.staticSummary).toMatch(/^Deletes expired/);
    expect(info.nextActionTimes).not.toHaveLength(0);
  });

  test('are created once and then left alone', async () => {
    expect(await ensureSchedules(client.schedule)).toEqual({ purge: 'created' });
    const { info } = await describePurge();
    expect(await ensureSchedules(client.schedule)).toEqual({ purge: 'unchanged' });
    const again = await describePurge();
    expect(again.info.lastUpdatedAt).toEqual(info.lastUpdatedAt);
  });

  test('follow a changed setting', async () => {
    await ensureSchedules(client.schedule);
    const settings = { purge: { intervalMs: 2 * hourMs, input: { batchLimit: 50, pauseMs: undefined } } };
    expect(await ensureSchedules(client.schedule, settings)).toEqual({ purge: 'updated' });
    expect(await ensureSchedules(client.schedule, settings)).toEqual({ purge: 'unchanged' });
    const { spec, action } = await describePurge();
    expect(spec.intervals?.map(({ every }) => every)).toEqual([2 * hourMs]);
    expect(action.args).toEqual([{ ...defaultPurgeInput, batchLimit: 50 }]);
  });

  test('stay paused when an operator has paused them, whatever changes', async () => {
    await ensureSchedules(client.schedule);
    await client.schedule.getHandle('purge').pause('the disk is being copied');
    expect(await ensureSchedules(client.schedule)).toEqual({ purge: 'unchanged' });
    await ensureSchedules(client.schedule, { purge: { intervalMs: 2 * hourMs } });
    expect((await describePurge()).state).toMatchObject({ paused: true, note: 'the disk is being copied' });
  });

  test('are created once when several workers start together', async () => {
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => ensureSchedules(client.schedule)));
    expect(outcomes.map(({ purge }) => purge).sort()).toEqual([
      'created',
      'unchanged',
      'unchanged',
      'unchanged',
    ]);
  });
});
