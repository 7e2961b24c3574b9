import { loadConfig, type Source } from '../../../config/config.js';
import { asJson } from '../output/json.js';
import { print } from '../output/print.js';
import { screenOf } from '../output/screen.js';
import type { DoctorCheck, Installation, Outcome } from './check.js';
import { checks } from './checks.js';
import { openPlace } from './database-place.js';
import type { DoctorOptions } from './doctor.js';
import { secretsToRead } from './file-checks.js';
import { asReport } from './report.js';
import { runChecks } from './run-checks.js';

const EXIT_ERRORS = 1;
const EXIT_WARNINGS = 3;
/** For reading rows; the time limit of a whole check is longer. */
const READING_LIMIT_MS = 5_000;

export async function doctor(environment: Source, { json, thorough = false }: DoctorOptions): Promise<void> {
  const outcomes = await examined(environment, checks, thorough);
  const exitCode = exitCodeOf(outcomes);
  print(json ? asJson({ sound: exitCode === 0, checks: outcomes }) : asReport(outcomes, screenOf()));
  // A check that exceeded its time limit may still keep the process alive.
  process.exit(exitCode);
}

export async function examined(
  environment: Source,
  table: readonly DoctorCheck[],
  thorough = false,
): Promise<Outcome[]> {
  const config = loadConfig(environment, { secrets: secretsToRead(environment) });
  const database = await openPlace(config);
  const endsAt = () => (thorough ? undefined : performance.now() + READING_LIMIT_MS);
  const installation: Installation = { config, environment, thorough, endsAt, database };
  try {
    return await runChecks(table, installation);
  } finally {
    await database.close();
  }
}

export function exitCodeOf(outcomes: readonly Outcome[]): number {
  const has = (...statuses: string[]) => outcomes.some(({ status }) => statuses.includes(status));
  return has('error', 'failed') ? EXIT_ERRORS : has('warning') ? EXIT_WARNINGS : 0;
}
