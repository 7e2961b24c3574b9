import { pause } from '../../../workflows/backoff.js';

/** Several, so that a supervisor that was itself suspended asks again before it judges. */
const QUESTIONS = 4;

/** Settles with true once a process gives no answer for the limit, and with false by the signal. */
export async function untilSilent(
  ask: (timeoutMs: number) => Promise<boolean>,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const stepMs = limitMs / QUESTIONS;
  for (let unanswered = 0; unanswered < QUESTIONS; ) {
    const [answers] = await Promise.all([ask(stepMs), pause(stepMs, signal)]);
    if (signal.aborted) {
      return false;
    }
    unanswered = answers ? 0 : unanswered + 1;
  }
  return true;
}
