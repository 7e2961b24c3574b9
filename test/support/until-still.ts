import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from './eventually.js';

const LOOKS = 4;
const APART_MS = 100;

/** Looks several times: after a stall of this process, one look can precede what the stall has held up. */
export async function untilStill(what: string, count: () => number): Promise<void> {
  let [before, same] = [Number.NaN, 0];
  await eventually(`${what} stands still`, async () => {
    const now = count();
    same = now === before ? same + 1 : 0;
    before = now;
    await pause(APART_MS);
    return same === LOOKS;
  });
}
