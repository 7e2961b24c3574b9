import { beforeEach, expect, test } from '@jest/globals';
import { scheduleIds, TASK_QUEUE } from '../../workflows/contract.js';
import { inspectTemporal } from '../../workflows/inspection.js';
import { reasonOf } from '../../workflows/log.js';
import type { OwnerClaim } from '../../workflows/namespace.js';
import { setUpNamespace } from '../../workflows/namespace-setup.js';
import { ensureSchedules } from '../../workflows/schedules.js';
import { describeWith } from '../support/toolchains.js';
import {
  eventually,
  farAway,
  NAMESPACE,
  quickPurge,
  removeSchedules,
  scriptedMaintenance,
} from './temporal-fixture.js';
import { temporalRig } from './temporal-rig.js';

const first: OwnerClaim = { issuer: 'https://sign-on.example.com' };
const other: OwnerClaim = { issuer: 'https://sign-on.staging.example.com' };
const renamed: OwnerClaim = { issuer: 'https://sign-on.example.org', replaces: first.issuer };

const REFUSAL =
  'The Temporal namespace belongs to the installation https://sign-on.example.com, and SIGN_ON_URL is ' +
  'https://sign-on.staging.example.com: set TEMPORAL_NAMESPACE to a namespace of this installation alone, or ' +
  'PREVIOUS_SIGN_ON_URL=https://sign-on.example.com to replace it.';

/** A busy server may answer too late for an inspection or a set-up, which say so in different words. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  const [answer] = await eventually('an answer about the owner', async () => {
    const told = await ask();
    const isError = typeof told === 'string' && !told.startsWith('The Temporal namespace belongs to');
    return !isError && ([told] as const);
  });
  return answer;
}

/** Both accept any installation where Temporal does not name the owner in time. */
const refusalOf = (ask: () => Promise<unknown>) =>
  eventually('a refusal', async () => {
    const told = await answered(ask);
    return typeof told === 'string' && told;
  });

describeWith('temporal', 'a namespace', (executable) => {
  const { client, address, workAlone } = temporalRig(executable);

  const workFor = async (owner: OwnerClaim | undefined) => {
    const domain = scriptedMaintenance({
      purge: Array.from({ length: 1_000 }, () => ({ deleted: {}, more: false })),
    });
    const options = { probeIntervalMs: 100, backoff: { firstDelayMs: 50, maxDelayMs: 100 } };
    const worker = await workAlone(domain, { schedules: { ...farAway, owner }, ...options });
    return { worker, calls: domain.calls };
  };
  const ownerNow = async () => {
    const { action } = await client().schedule.getHandle(scheduleIds.purge).describe();
    return action.memo?.installation;
  };
  const owned = (by: OwnerClaim) =>
    eventually('the owner', async () => (await ownerNow().catch(() => undefined)) === by.issuer);

  beforeEach(() => removeSchedules(client()));

  test('gives its tasks to the installation that came first, and refuses workers of another', async () => {
    const owner = await workFor(first);
    await owned(first);
    const { worker, calls } = await workFor(other);
    await eventually('the refusal', () => worker.state.reason === REFUSAL);
    expect(worker.state).toMatchObject({ status: 'disconnected', awaySince: expect.any(Date) });
    // A worker that cannot ask in time for the owner polls until its schedules are refused.
    await eventually('runs of which none was given to the other', async () => {
      const before = [owner.calls.length, calls.length] as const;
      // So many that two workers that both poll share them in each round.
      for (let run = 1; run <= 24; run++) {
        const workflowId = `purge-${before}-${run}`;
        await client().workflow.execute('purge', { taskQueue: TASK_QUEUE, workflowId, args: [quickPurge] });
      }
      return owner.calls.length === before[0] + 24 && calls.length === before[1];
    });
    expect(await ownerNow()).toBe(first.issuer);
  });

  test('is left by the workers of an issuer that another one replaces', async () => {
    const before = await workFor(first);
    await owned(first);
    const { worker } = await workFor(renamed);
    await owned(renamed);
    await eventually('polls', () => worker.state.status === 'polling');
    await eventually('the refusal', () =>
      before.worker.state.reason?.includes(`installation ${renamed.issuer}`),
    );
  });

  test('whose schedules name no owner, as those of earlier releases, belongs to the first that names itself', async () => {
    const before = await workFor(undefined);
    await eventually('the schedules', () => before.worker.state.awaySince === undefined);
    expect(await ownerNow()).toBeUndefined();
    await workFor(first);
    await owned(first);
    // As from a computer whose issuer only it can reach.
    expect(await ensureSchedules(client().schedule, farAway, true)).toMatchObject({ purge: 'unchanged' });
    expect(before.worker.state.status).toBe('polling');
  });

  test('of another installation is named by inspection and set-up, and its schedules stay', async () => {
    await ensureSchedules(client().schedule, { ...farAway, owner: first });
    const place = { address: address(), namespace: NAMESPACE };
    const problemFor = async (owner?: OwnerClaim) => (await inspectTemporal(place, Date.now, owner)).problem;
    const isSetUpBy = (owner: OwnerClaim) => setUpNamespace(place, owner).catch(reasonOf);
    expect(await refusalOf(() => problemFor(other))).toBe(REFUSAL);
    expect(await answered(() => problemFor(first))).toBeUndefined();
    expect(await answered(() => problemFor(renamed))).toBeUndefined();
    expect(await answered(() => problemFor())).toBeUndefined();
    expect(await refusalOf(() => isSetUpBy(other))).toBe(REFUSAL);
    expect(await answered(() => isSetUpBy(first))).toEqual({ isNew: false, addedAttributes: [] });
    await expect(ensureSchedules(client().schedule, { ...farAway, owner: other })).rejects.toThrow(REFUSAL);
    expect(await ownerNow()).toBe(first.issuer);
  });
});
