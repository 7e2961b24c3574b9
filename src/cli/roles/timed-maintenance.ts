import { randomUUID } from 'node:crypto';
import type { Maintenance } from '../../../workflows/activities/maintenance.js';
import { pause } from '../../../workflows/backoff.js';
import { defaultPurgeInput } from '../../../workflows/contract.js';
import type { TemporalWorker } from '../../../workflows/worker.js';
import type { Config } from '../../config/config.js';
import type { Clock } from '../../domain/clock.js';
import type { Log } from '../../telemetry/log.js';
import { type Running, running } from './running.js';

export interface TimedMaintenanceOptions {
  maintenance: Pick<Maintenance, 'purgeExpired' | 'advanceSigningKeys'>;
  purgeEveryMs: number;
  advanceKeysEveryMs: number;
  /** Default: the input of the workflow. */
  purgeInput?: Pick<typeof defaultPurgeInput, 'batchesPerRun' | 'batchLimit' | 'restMs'>;
  log: Log;
}

interface Absence {
  /** The worker that polls Temporal whenever it is there. */
  temporal: Pick<TemporalWorker, 'state'>;
  clock: Clock;
  lookEveryMs?: number;
}

interface Job {
  name: string;
  everyMs: number;
  /** False if another worker does or has done the job: tried again soon, in case that worker is killed. */
  run(call: { requestId: string; signal: AbortSignal }): Promise<boolean>;
}

const HOUR_MS = 3_600_000;
/** The domain may be starting or briefly unavailable. */
const RETRY_MS = 10_000;
/** How soon to try again after another worker has done the job, or while it does it. */
const LOOK_AGAIN_MS = 60_000;
/** Temporal's schedules catch up after a shorter absence. */
const AWAY_MS = 60_000;
const LOOK_AT_TEMPORAL_EVERY_MS = 5_000;
/** Node fires longer timers at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** At most a lead, so that no step is late by more than a lead. */
export function advanceKeysEveryMs({ SIGNING_KEY_LEAD }: Pick<Config, 'SIGNING_KEY_LEAD'>): number {
  return Math.min(HOUR_MS, SIGNING_KEY_LEAD);
}

/** Replaces Temporal's schedules by timers: purges the tables and advances the signing keys. */
export function startTimedMaintenance(options: TimedMaintenanceOptions): Running {
  const { purgeEveryMs, advanceKeysEveryMs, log } = options;
  log.info('without Temporal, timers purge and advance the signing keys', {
    purgeEveryMs,
    advanceKeysEveryMs,
  });
  const jobs: Job[] = [
    { name: 'purge', everyMs: purgeEveryMs, run: (call) => purge(options, call) },
    { name: 'signing-keys', everyMs: advanceKeysEveryMs, run: (call) => advanceKeys(options, call) },
  ];
  return running(async (ending) => {
    await Promise.all(jobs.map((job) => repeat(job, log, ending)));
  });
}

/** Like `startTimedMaintenance`, but only after Temporal may have run no schedules for a minute. */
export function startTimersInAbsence(
  { temporal, clock, lookEveryMs = LOOK_AT_TEMPORAL_EVERY_MS }: Absence,
  options: TimedMaintenanceOptions,
): Running {
  return running(async (ending) => {
    let timers: Running | undefined;
    while (!ending.aborted) {
      const { awaySince } = temporal.state;
      // The clock may be set back meanwhile.
      const isLong = awaySince !== undefined && Math.abs(clock() - awaySince.getTime()) >= AWAY_MS;
      if (isLong || (timers && awaySince)) {
        timers ??= startTimedMaintenance(options);
      } else if (timers) {
        await timers.stop();
        timers = undefined;
        options.log.info('Temporal is back: its schedules purge and advance the signing keys');
      }
      await pause(lookEveryMs, ending);
    }
    await timers?.stop();
  });
}

/** Runs the job at once and then at its interval; retries a failure sooner. */
async function repeat({ name, everyMs, run }: Job, log: Log, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let waitMs = Math.min(everyMs, LONGEST_TIMER_MS);
    try {
      const isDone = await run({ requestId: `timed-${name}/${new Date().toISOString()}`, signal });
      waitMs = isDone ? waitMs : Math.min(waitMs, LOOK_AGAIN_MS);
    } catch (error) {
      if (!signal.aborted) {
        log.warn('timed maintenance failed', { job: name, reason: (error as Error).message });
      }
      waitMs = Math.min(waitMs, RETRY_MS);
    }
    await pause(waitMs, signal);
  }
}

/**
 * Purges in small batches until nothing is left, with pauses in which other writes proceed. Logs progress
 * after every `batchesPerRun` of them.
 */
async function purge(
  { maintenance, purgeEveryMs, purgeInput = defaultPurgeInput, log }: TimedMaintenanceOptions,
  call: Parameters<Job['run']>[0],
) {
  const { batchesPerRun, batchLimit: limit, restMs } = purgeInput;
  const run = randomUUID();
  // Whole seconds, rounded down: the own interval never prevents the next run.
  const unlessEndedWithinSeconds = Math.floor(purgeEveryMs / 1_000);
  let deleted: Record<string, number> = {};
  for (let batch = 1, more = true; more && !call.signal.aborted; batch += 1) {
    const done = await maintenance.purgeExpired({ limit, run, unlessEndedWithinSeconds }, call);
    if (done.otherRunActive) {
      return false;
    }
    for (const [kind, count] of Object.entries(done.deleted)) {
      deleted[kind] = (deleted[kind] ?? 0) + count;
    }
    more = done.more;
    if (more) {
      if (batch % batchesPerRun === 0) {
        log.info('purged a part of what was past its retention', { deleted });
        deleted = {};
      }
      await pause(restMs, call.signal);
    }
  }
  if (Object.keys(deleted).length > 0) {
    log.info('purged what was past its retention', { deleted });
  }
  return true;
}

async function advanceKeys({ maintenance, log }: TimedMaintenanceOptions, call: Parameters<Job['run']>[0]) {
  const { changes } = await maintenance.advanceSigningKeys(call);
  if (changes.length > 0) {
    log.info('signing keys advanced', { changes });
  }
  return true;
}
