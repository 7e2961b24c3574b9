import { within } from '../../../telemetry/within.js';
import { type DoctorCheck, type Installation, type Outcome, Skipped } from './check.js';

/** Longer than the limits inside the checks, so that a slow check can still report what it found. */
const LIMIT_MS = 15_000;
const NOTHING = { count: 0, examples: [] };

/** One after the other, in the order of the table. */
export async function runChecks(
  checks: readonly DoctorCheck[],
  installation: Installation,
  limitMs = LIMIT_MS,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const check of checks) {
    outcomes.push(await outcomeOf(check, installation, limitMs));
  }
  return outcomes;
}

async function outcomeOf(check: DoctorCheck, installation: Installation, limitMs: number): Promise<Outcome> {
  const { name, about, remedy, severity } = check;
  try {
    const finding = Promise.resolve().then(() => check.find(installation));
    const found = await (installation.thorough
      ? finding
      : within(limitMs, finding, () => {
          throw new Error(`it did not end within ${limitMs / 1_000} s`);
        }));
    return { name, about, remedy, status: found.count > 0 ? severity : 'ok', ...found };
  } catch (error) {
    const status = error instanceof Skipped ? 'skipped' : 'failed';
    return { name, about, remedy, status, reason: (error as Error).message, ...NOTHING };
  }
}
