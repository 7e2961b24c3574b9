import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.js';
import { questionsOf, type Target } from './questions.js';

/** What this process is told to do, and what it answers. */
export interface Job {
  target: Target;
  connections: number;
  durationMs: number;
}

export interface LoadReading {
  requestsPerSecond: number;
  /** From the first to the last, more than what is counted for the rate. */
  answered: number;
  /** In all, with a request to come back. */
  shed: number;
  /** Of a hundred answers, one took longer. */
  p99Ms: number;
  /** 1 is a load that could not have asked any faster. */
  busy: number;
}

export type JobReport = LoadReading | { failure: string };

/** The connections are all at work, and no longer in step, before counting begins. */
const RAMP_UP_MS = 200;

process.on('message', async (job: Job) => process.send?.(await perform(job)));
process.once('disconnect', () => process.exit());

async function perform({ target, connections, durationMs }: Job): Promise<JobReport> {
  let failure: Error | undefined;
  let endedAt: number | undefined;
  const questions = questionsOf(target);
  const end = (error?: Error) => {
    failure ??= error;
    endedAt ??= performance.now();
  };
  const open = Array.from({ length: connections }, () => new Connection(target, questions(), end));
  const answered = () => open.reduce((sum, connection) => sum + connection.answered, 0);
  await sleep(RAMP_UP_MS);
  const startedAt = performance.now();
  const answeredBefore = answered();
  for (const connection of open) {
    connection.durationsMs.length = 0;
  }
  const idleBefore = performance.eventLoopUtilization();
  await sleep(durationMs);
  const count = answered() - answeredBefore;
  // With the first connection that has nothing left to ask, the others soon have nothing either.
  const seconds = ((endedAt ?? performance.now()) - startedAt) / 1_000;
  const shed = open.reduce((sum, connection) => sum + connection.shed, 0);
  const { utilization } = performance.eventLoopUtilization(idleBefore);
  for (const connection of open) {
    connection.close();
  }
  const durations = open.flatMap(({ durationsMs }) => durationsMs).sort((a, b) => a - b);
  const p99Ms = durations[Math.floor(durations.length * 0.99)] ?? Number.NaN;
  return failure
    ? { failure: failure.message }
    : { requestsPerSecond: count / seconds, answered: answered(), shed, p99Ms, busy: utilization };
}
