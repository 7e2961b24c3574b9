import type { Maintenance } from '../../../workflows/activities/index.js';
import { pause } from '../../../workflows/backoff.js';
import { defaultPurgeInput } from '../../../workflows/contract.js';
import type { Log } from '../../telemetry/log.js';

export interface TimedMaintenanceOptions {
  maintenance: Pick<Maintenance, 'purgeExpired' | 'advanceSigningKeys'>;
  purgeEveryMs: number;
  advanceKeysEveryMs: number;
  log: Log;
}

interface Job {
  name: string;
  everyMs: number;
  run(call: { requestId: string; signal: AbortSignal }): Promise<void>;
}

/** The domain may still be starting, or be away for a moment. */
const RETRY_MS = 10_000;
/** Node fires a timer of more than this at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Does by a timer what Temporal's schedules start where there is one: without it the tables would grow for ever, and no key would follow the last. */
export function startTimedMaintenance(options: TimedMaintenanceOptions): { stop(): Promise<void> } {
  const { purgeEveryMs, advanceKeysEveryMs, log } = options;
  const stop = new AbortController();
  log.info('there is no temporal to join, so timers purge and advance the signing keys', {
    purgeEveryMs,
    advanceKeysEveryMs,
  });
  const jobs: Job[] = [
    { name: 'purge', everyMs: purgeEveryMs, run: (call) => purge(options, call) },
    { name: 'signing-keys', everyMs: advanceKeysEveryMs, run: (call) => advanceKeys(options, call) },
  ];
  const running = Promise.all(jobs.map((job) => repeat(job, log, stop.signal)));
  return {
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

/** At once, and then again and again; a failure is tried again sooner. */
async function repeat({ name, everyMs, run }: Job, log: Log, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let waitMs = Math.min(everyMs, LONGEST_TIMER_MS);
    try {
      await run({ requestId: `timed-${name}/${new Date().toISOString()}`, signal });
    } catch (error) {
      if (!signal.aborted) {
        log.warn('timed maintenance failed', { job: name, reason: (error as Error).message });
      }
      waitMs = Math.min(waitMs, RETRY_MS);
    }
    await pause(waitMs, signal);
  }
}

/** As many batches as one run of the workflow has; what is left waits for the next time. */
async function purge({ maintenance, log }: TimedMaintenanceOptions, call: Parameters<Job['run']>[0]) {
  const { batchesPerRun, batchLimit, pauseMs } = defaultPurgeInput;
  const deleted: Record<string, number> = {};
  for (let batch = 1, more = true; more && batch <= batchesPerRun && !call.signal.aborted; batch += 1) {
    const done = await maintenance.purgeExpired({ limit: batchLimit }, call);
    for (const [kind, count] of Object.entries(done.deleted)) {
      deleted[kind] = (deleted[kind] ?? 0) + count;
    }
    more = done.more;
    if (more) {
      await pause(pauseMs, call.signal);
    }
  }
  if (Object.keys(deleted).length > 0) {
    log.info('what was past its retention is gone', { deleted });
  }
}

async function advanceKeys({ maintenance, log }: TimedMaintenanceOptions, call: Parameters<Job['run']>[0]) {
  const { changes } = await maintenance.advanceSigningKeys(call);
  if (changes.length > 0) {
    log.info('signing keys took a step', { changes });
  }
}
