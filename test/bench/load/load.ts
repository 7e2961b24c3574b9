import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Scope } from '../harness/scope.js';
import type { Job, JobReport, LoadReading } from './generator.js';

/** Beyond this the load is what limits, and the row would say less about the service than about the load. */
const MAX_BUSY = 0.97;

/** What one load was answered, from a process that stays warm from round to round. */
export type Load = (job: Job) => Promise<LoadReading>;

export function startLoad(scope: Scope): Load {
  // Forked with the same arguments to Node as this process, so that it takes TypeScript, too.
  const generator = fork(join(import.meta.dirname, 'generator.ts'));
  const death = once(generator, 'exit').then(() => ({ failure: 'The load generator ended.' }));
  scope.onEnd(async () => {
    generator.kill();
    await death;
  });
  let warned = false;
  return async (job) => {
    const answer = once(generator, 'message').then(([report]) => report as JobReport);
    generator.send(job);
    const report = await Promise.race([answer, death]);
    if ('failure' in report) {
      throw new Error(report.failure);
    }
    if (report.busy > MAX_BUSY && !warned) {
      warned = true;
      const share = Math.round(report.busy * 100);
      process.stderr.write(`\nThe load was busy ${share} % of the time: it may be what limits here.\n`);
    }
    return report;
  };
}
