/** For the build: finds, downloads or builds Temporal, and prints its path. Progress goes to stderr. */
import { findTemporal } from './find.js';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => interrupted.abort(new Error(`Interrupted by ${signal}.`)));
}

try {
  const executable = await findTemporal({
    signal: interrupted.signal,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(`${executable}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
