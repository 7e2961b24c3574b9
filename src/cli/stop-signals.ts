import { pause } from '../../workflows/backoff.js';
import type { Config } from '../config/config.js';
import type { Log } from '../telemetry/log.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `asked` resolves at a signal to end; a second one, which asks to end at once, aborts `hurried`. */
export function listenForStop(): { asked: Promise<void>; hurried: AbortSignal } {
  const hurry = new AbortController();
  let signals = 0;
  const asked = new Promise<void>((resolve) => {
    for (const signal of SIGNALS) {
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
export async function drained({ DRAIN_DELAY: delayMs }: Config, log: Log, hurried: AbortSignal) {
  log.info('draining', { delayMs });
  await pause(delayMs, hurried);
}

/** Aborted by the first signal to end, so that a command can clean up; a second one ends it at once. */
export function stopSignal(): AbortController {
  const stop = new AbortController();
  const end = () => {
    for (const name of SIGNALS) {
      process.removeListener(name, end);
    }
    stop.abort();
  };
  for (const name of SIGNALS) {
    process.on(name, end);
  }
  return stop;
}
