import type { Clock } from '../clock.js';

/** Nodes may differ by less. With more, one of the clocks is wrong, and by it new rows may look old. */
const MOST_APART_MS = 5 * 60_000;

/** Rows that were over before this time may be removed for ever; undefined while none may. */
export type RemovalTime = () => number | undefined;

/** Called when the clocks begin to differ too much, and with undefined when they agree again. */
type OnDisagreement = (apartMs: number | undefined) => void;

/**
 * The earlier of two clocks, while they agree. What is removed does not come back, so neither a database
 * whose clock jumps ahead nor a wrong clock of this machine may decide alone.
 */
export function removalTime(clock: Clock, machineClock: Clock, onDisagreement: OnDisagreement): RemovalTime {
  let isTold = false;
  return () => {
    const [there, here] = [clock(), machineClock()];
    const apartMs = Math.abs(there - here);
    const isApart = apartMs > MOST_APART_MS;
    if (isApart !== isTold) {
      isTold = isApart;
      onDisagreement(isApart ? apartMs : undefined);
    }
    return isApart ? undefined : Math.min(there, here);
  };
}
