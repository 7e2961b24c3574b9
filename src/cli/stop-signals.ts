import { pause } from '../../workflows/backoff.js';
import type { Config } from '../config/config.js';
import type { Log } from '../telemetry/log.js';

/** Asks a process to end. */
export interface StopSignals {
  asked: Promise<void>;
  /** Aborted by a second signal, which asks the process to end at once. */
  hurried: AbortSignal;
}

export function listenForStop(): StopSignals {
  const hurry = new AbortController();
  let signals = 0;
  const asked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        signals += 1;
        resolve();
        if (signals > 1) {
          hurry.abort();
        }
      });
    }
  });
  return { asked, hurried: hurry.signal };
}

/** Waits until load balancers notice the unready node, which still serves. A second signal ends the wait. */
export async function drained(
  { DRAIN_DELAY: delayMs }: Pick<Config, 'DRAIN_DELAY'>,
  log: Log,
  hurried: AbortSignal,
): Promise<void> {
  log.info('draining', { delayMs });
  await pause(delayMs, hurried);
}
