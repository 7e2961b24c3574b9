import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type Target } from './connection.js';

/** What this process is told to do, and what it answers. */
export interface Job {
  target: Target;
  connections: number;
  durationMs: number;
}

export type JobReport =
  | { requestsPerSecond: number /** 1 is a load that could not have asked any faster. */; busy: number }
  | { failure: string };

/** The connections are all at work, and no longer in step, before counting begins. */
const RAMP_UP_MS = 200;

process.on('message', async (job: Job) => process.send?.(await perform(job)));
process.once('disconnect', () => process.exit());

async function perform({ target, connections, durationMs }: Job): Promise<JobReport> {
  let failure: Error | undefined;
  const open = Array.from(
    { length: connections },
    () =>
      new Connection(target, (error) => {
        failure ??= error;
      }),
  );
  const answered = () => open.reduce((sum, connection) => sum + connection.answered, 0);
  await sleep(RAMP_UP_MS);
  const startedAt = performance.now();
  const answeredBefore = answered();
  const idleBefore = performance.eventLoopUtilization();
  await sleep(durationMs);
  const count = answered() - answeredBefore;
  const seconds = (performance.now() - startedAt) / 1_000;
  const { utilization } = performance.eventLoopUtilization(idleBefore);
  for (const connection of open) {
    connection.close();
  }
  return failure ? { failure: failure.message } : { requestsPerSecond: count / seconds, busy: utilization };
}
