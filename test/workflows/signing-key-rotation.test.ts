import { expect, test } from '@jest/globals';
import {
  defaultSigningKeyRotationInput,
  type SigningKeyRotationOutcome,
  TASK_QUEUE,
} from '../../workflows/contract.js';
import { reasonOf } from '../../workflows/log.js';
import { describeWith } from '../support/toolchains.js';
import { eventually, scriptedMaintenance } from './temporal-fixture.js';
import { temporalRig } from './temporal-rig.js';

const quickInput = { ...defaultSigningKeyRotationInput, retryFirstDelayMs: 20, retryMaxDelayMs: 50 };
const NEXT_DUE_AT = '2026-07-02T08:30:00.000Z';
const rotated: SigningKeyRotationOutcome = {
  changes: [
    { kid: 'old', step: 'superseded' },
    { kid: 'new', step: 'activated' },
  ],
  nextDueAt: NEXT_DUE_AT,
};

describeWith('temporal', 'the rotation of the signing keys', (executable) => {
  const { client, work, workAlone } = temporalRig(executable);

  const start = (workflowId: string, input = quickInput) =>
    client().workflow.start('signingKeyRotation', {
      taskQueue: TASK_QUEUE,
      workflowId,
      args: [input],
    });

  test.each([
    {
      title: 'the steps it took, in order',
      outcome: rotated,
      memo: { steps: 'superseded old, activated new', nextDueAt: NEXT_DUE_AT },
      details: `Steps taken: superseded old, activated new. The next step is due at ${NEXT_DUE_AT}.`,
    },
    {
      title: 'that nothing was due',
      outcome: { changes: [], nextDueAt: NEXT_DUE_AT },
      memo: { steps: 'none', nextDueAt: NEXT_DUE_AT },
      details: `Nothing was due. The next step is due at ${NEXT_DUE_AT}.`,
    },
    {
      title: 'that no next time is known',
      outcome: { changes: [], nextDueAt: null },
      memo: { steps: 'none', nextDueAt: 'not known' },
      details: 'Nothing was due.',
    },
  ])('tells $title', async ({ title, outcome, memo, details }) => {
    const { maintenance, calls } = scriptedMaintenance({ rotation: [outcome] });
    await work({ maintenance });
    const workflowId = `rotation-tells-${title.replaceAll(/\W/g, '-')}`;
    const handle = await start(workflowId);
    expect(await handle.result()).toEqual(outcome);
    expect((await handle.describe()).memo).toEqual(memo);
    expect(await handle.query('__temporal_workflow_metadata')).toMatchObject({ currentDetails: details });
    expect(calls).toEqual([{ requestId: `${workflowId}/advance/1` }]);
  });

  test('outlasts a domain that fails for a while', async () => {
    const { maintenance, calls } = scriptedMaintenance({
      rotation: [new Error('busy'), new Error('busy'), rotated],
    });
    await work({ maintenance });
    expect(await (await start('rotation-outlasts')).result()).toEqual(rotated);
    expect(calls).toHaveLength(3);
  });

  test('fails with the reason when the domain fails too often', async () => {
    const { maintenance } = scriptedMaintenance({
      rotation: Array.from({ length: 9 }, () => new Error('the key file is gone')),
    });
    await work({ maintenance });
    const handle = await start('rotation-gives-up', { ...quickInput, giveUpAfterAttempts: 2 });
    expect(reasonOf(await handle.result().catch((error) => error))).toBe('the key file is gone');
  });

  test('is taken at once by the worker that makes the schedule', async () => {
    const { maintenance } = scriptedMaintenance({ rotation: [rotated] });
    await client()
      .schedule.getHandle('signing-key-rotation')
      .delete()
      .catch(() => undefined);
    const schedules = {
      purgeIntervalMs: 300 * 24 * 3_600_000,
      signingKeyRotationIntervalMs: 3_600_000,
      startAtOnce: true,
    };
    await workAlone({ maintenance }, { schedules });
    const run = await eventually('the first run', async () => {
      const handle = client().schedule.getHandle('signing-key-rotation');
      const schedule = await handle.describe().catch(() => undefined);
      return schedule?.info.recentActions[0];
    });
    const { workflowId } = run.action.workflow;
    expect(workflowId).toMatch(/^signing-key-rotation-\d{4}-/);
    expect(await client().workflow.getHandle(workflowId).result()).toEqual(rotated);
  });
});
