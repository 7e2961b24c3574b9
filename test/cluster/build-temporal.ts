/** Builds the Temporal server of the cluster, unless it was built before; progress on stderr. */
import { findTemporalServer } from './temporal-programs.js';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => interrupted.abort(new Error(`Interrupted by ${signal}.`)));
}
try {
  const onProgress = (line: string) => void process.stderr.write(`${line}\n`);
  await findTemporalServer({ signal: interrupted.signal, onProgress });
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
