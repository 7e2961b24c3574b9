import { setImmediate } from 'node:timers/promises';
import { loadConfig } from '../../../config/config.js';
import { readableSecrets, type Source } from '../../../config/secret-files.js';
import { within } from '../../../telemetry/within.js';
import { runsDomain } from '../../sockets.js';
import { print } from '../output/print.js';
import { asJson } from '../output/printable.js';
import { screenOf } from '../output/screen.js';
import { type DoctorCheck, type Installation, type Outcome, Skipped } from './check.js';
import { checks } from './checks.js';
import { openPlace } from './database-place.js';
import type { DoctorOptions } from './doctor.js';
import { asReport } from './report.js';

const EXIT_ERRORS = 1;
const EXIT_WARNINGS = 3;

export async function doctor(environment: Source, { json, thorough = false }: DoctorOptions): Promise<void> {
  const outcomes = await examined(environment, checks, thorough);
  process.exitCode = exitCodeOf(outcomes);
  print(json ? asJson({ sound: process.exitCode === 0, checks: outcomes }) : asReport(outcomes, screenOf()));
  // Until then, `print` reports that its output was refused.
  await setImmediate();
  // A check that exceeded its time limit may still keep the process alive.
  process.exit();
}

export async function examined(
  environment: Source,
  table: readonly DoctorCheck[],
  thorough = false,
): Promise<Outcome[]> {
  const secrets = readableSecrets(environment);
  const readable = loadConfig(environment, { secrets });
  // A domain needs its database: without the address, this would look at the wrong one.
  const config = runsDomain(readable)
    ? loadConfig(environment, { secrets: [...new Set([...secrets, 'DATABASE_URL' as const])] })
    : readable;
  const database = await openPlace(config);
  try {
    return await runChecks(table, { config, environment, thorough, database });
  } finally {
    await database.close();
  }
}

export function exitCodeOf(outcomes: readonly Outcome[]): number {
  const has = (...statuses: string[]) => outcomes.some(({ status }) => statuses.includes(status));
  return has('error', 'failed') ? EXIT_ERRORS : has('warning') ? EXIT_WARNINGS : 0;
}

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
