import type { Comparison } from './comparison.js';
import { type Measured, type MeasuredCost, type MeasuredRow, measure } from './measure.js';
import type { Progress } from './progress.js';
import type { FailedRow } from './report.js';
import { Scope } from './scope.js';

export interface Run {
  measured: MeasuredRow[];
  costs: MeasuredCost[];
  failed: FailedRow[];
}

export interface RunOptions {
  /** Instead of the number that each comparison asks for. */
  rounds?: number;
  interrupted: AbortSignal;
  progress: Progress;
}

/**
 * Measures one comparison after the other. A failure affects only its own rows and leaves no processes. An
 * interruption ends the run with what was measured until then.
 */
export async function runAll(comparisons: readonly Comparison[], options: RunOptions): Promise<Run> {
  const run: Run = { measured: [], costs: [], failed: [] };
  for (const [index, given] of comparisons.entries()) {
    const names = Object.keys(given.rows);
    const title = `[${index + 1}/${comparisons.length}] ${names[0]}`;
    try {
      const { rows, costs } = await runOne(given, title, options);
      run.measured.push(...rows);
      run.costs.push(...costs);
    } catch (error) {
      if (options.interrupted.aborted) {
        break;
      }
      const reason = (error as Error).message;
      run.failed.push(...names.map((name) => ({ name, reason })));
    }
  }
  return run;
}

async function runOne(given: Comparison, title: string, options: RunOptions): Promise<Measured> {
  const { interrupted, progress } = options;
  const counted = { ...given, rounds: options.rounds ?? given.rounds };
  const scope = new Scope();
  try {
    const measuring = measure(counted, scope, (step) => progress(`${title}: ${step}`));
    return await unlessAborted(measuring, interrupted);
  } finally {
    await scope.end();
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
