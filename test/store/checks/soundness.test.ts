import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { PostgresLimits } from '../../../src/store/dialects/postgres/postgres.js';
import { databaseUnderTest } from '../../support/databases.js';
import { type Stall, stallingProxy } from '../../support/stalling-proxy.js';
import { type Call, isUnknown, OURS_ALONE, proveSound, SHORT, soundnessRig } from './soundness-rig.js';

const ROUNDS = 5;
/** If every call of a round was quicker than its fault. */
const MOST_ROUNDS = 20;
const CALLS_AT_ONCE = 8;
/**
 * Longer than the calls wait for answers. Not much longer: a frozen process may hold a lock that all
 * databases of the server share.
 */
const FROZEN_MS = 1_000;

const closings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) {
    await close();
  }
});

/** After the above, because each removes the database when a test is over. */
const under = databaseUnderTest('PostgreSQL');

async function rigWith(limits: PostgresLimits, wayTo?: Parameters<typeof soundnessRig>[2]) {
  const rig = await soundnessRig(under, limits, wayTo);
  closings.push(rig.close);
  return rig;
}

type Rig = Awaited<ReturnType<typeof rigWith>>;

function callsAtOnce({ newCall, invite }: Rig): Promise<Call[]> {
  return Promise.all(Array.from({ length: CALLS_AT_ONCE }, () => invite(newCall())));
}

/** On a busy machine, the calls of a round may all have ended before the fault. */
function isAnyRefused(calls: readonly Call[]): boolean {
  return calls.some(({ refusal }) => refusal);
}

/** Of those that still run: on a busy machine, a connection that opened too late has been closed. */
function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
        throw error;
      }
    }
  }
}

describe.each([
  { who: 'the server ends what waits', limits: SHORT },
  { who: 'only we end it', limits: OURS_ALONE },
])('writes on PostgreSQL of which $who', ({ limits }) => {
  test('stay whole while another holds each table in turn', async () => {
    const rig = await rigWith(limits);
    const { rows } = await rig.stranger.query(
      "select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%' order by 1",
    );
    const calls: Call[] = [];
    for (const { tablename } of rows) {
      await rig.stranger.query(`begin; lock table ${tablename} in access exclusive mode`);
      calls.push(await rig.invite(rig.newCall()));
      await rig.stranger.query('rollback');
      calls.push(await rig.invite(rig.newCall()));
    }
    expect(calls.filter(({ refusal }) => refusal).length).toBeGreaterThan(5);
    expect(calls.filter(({ answer }) => answer).length).toBeGreaterThanOrEqual(rows.length);
    await proveSound(rig, calls);
  });

  test('stay whole while the processes of the server are killed', async () => {
    const rig = await rigWith(limits);
    const calls: Call[] = [];
    for (let round = 0; round < ROUNDS || (round < MOST_ROUNDS && !isAnyRefused(calls)); round += 1) {
      const making = callsAtOnce(rig);
      for (const victim of await rig.victims()) {
        await rig.stranger.query('select pg_terminate_backend($1)', [victim]);
      }
      calls.push(...(await making));
    }
    expect(isAnyRefused(calls)).toBe(true);
    await proveSound(rig, calls);
  });

  test('stay whole while the processes of the server are frozen', async () => {
    const rig = await rigWith(limits);
    const calls = await callsAtOnce(rig);
    const frozenWhile: Call[] = [];
    for (let round = 0; round < MOST_ROUNDS && !isAnyRefused(frozenWhile); round += 1) {
      const making = callsAtOnce(rig);
      const frozen = await rig.victims();
      try {
        signal(frozen, 'SIGSTOP');
        await Promise.race([making, pause(FROZEN_MS)]);
      } finally {
        signal(frozen, 'SIGCONT');
      }
      frozenWhile.push(...(await making));
    }
    expect(isAnyRefused(frozenWhile)).toBe(true);
    await proveSound(rig, [...calls, ...frozenWhile]);
  });

  test.each<Stall>(['before the commit', 'before its answer'])(
    'stay whole when the way falls silent %s, and the caller hears that the outcome is not known',
    async (stall) => {
      const rig = await rigWith(limits, stallingProxy);
      const { way, invite, newCall } = rig;
      const calls = [await invite(newCall())];
      way.stallNext(stall);
      // Of a call that was too slow before its commit, the outcome is known.
      for (let round = 0; round < MOST_ROUNDS && way.stalled() === 0; round += 1) {
        calls.push(await invite(newCall()));
      }
      expect(way.stalled()).toBe(1);
      expect(isUnknown(calls.at(-1)?.refusal)).toBe(true);
      calls.push(...(await callsAtOnce(rig)));
      await proveSound(rig, calls);
    },
  );
});
