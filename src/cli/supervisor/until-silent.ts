import { pause } from '../../../workflows/backoff.js';

/** Several, so that a supervisor that was itself suspended asks again before it decides. */
const QUESTIONS = 4;

/** Resolves to true when the process has not answered for the limit, and to false on the signal. */
export async function untilSilent(
  ask: (timeoutMs: number) => Promise<'alive' | 'silent' | 'unknown'>,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const stepMs = limitMs / QUESTIONS;
  for (let silences = 0; silences < QUESTIONS; ) {
    const [answer] = await Promise.all([ask(stepMs), pause(stepMs, signal)]);
    if (signal.aborted) {
      return false;
    }
    silences = answer === 'alive' ? 0 : silences + Number(answer === 'silent');
  }
  return true;
}
