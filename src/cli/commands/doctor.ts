import type { Command } from 'commander';
import { type Config, loadConfig } from '../../config/config.js';
import type { Inspection } from '../../store/inspect.js';
import { StoreError } from '../../store/store-error.js';
import { StartupError } from '../startup-error.js';
import { asJson } from './output/json.js';
import { print } from './output/print.js';
import { printable } from './output/printable.js';

const NOTES = `
It reads the database that DATA_DIR or DATABASE_URL names and writes nothing; the service may run meanwhile.

Exit codes: 0 nothing found · 1 damage found, or the check could not end · 78 no such database

Examples:
  $ integration doctor
  $ DATA_DIR=/var/lib/integration integration doctor --json`;

const EXIT_DAMAGED = 1;

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Look for damage in the database, and say what to do about it')
    .option('--json', 'as one JSON object')
    .addHelpText('after', NOTES)
    .action(async ({ json }: { json?: boolean }) => {
      const checks = await inspected(loadConfig(process.env));
      const sound = checks.every(({ count }) => count === 0);
      print(json ? asJson({ sound, checks }) : asText(checks));
      process.exitCode = sound ? 0 : EXIT_DAMAGED;
    });
}

async function inspected(config: Config): Promise<Inspection[]> {
  const { inspectDatabase } = await import('../../store/inspect.js');
  return inspectDatabase({
    dataDir: config.DATA_DIR,
    databaseUrl: config.DATABASE_URL?.reveal(),
    now: Date.now(),
    eventsMs: config.EVENT_RETENTION,
  }).catch((error: unknown) => {
    throw error instanceof StoreError ? new StartupError(error.message, { cause: error }) : error;
  });
}

function asText(checks: readonly Inspection[]): string {
  return checks.map((check) => (check.count === 0 ? soundText(check) : damageText(check))).join('\n');
}

function soundText({ name, about }: Inspection): string {
  return `ok       ${name}: ${about}`;
}

function damageText({ name, count, about, examples, remedy }: Inspection): string {
  const more = count > examples.length ? [`         … and ${count - examples.length} more`] : [];
  return [
    `damaged  ${name}: ${count} ${count === 1 ? 'is' : 'are'} not as it should be. ${about}`,
    ...examples.map((example) => `         ${printable(example)}`),
    ...more,
    `         What to do: ${remedy}`,
  ].join('\n');
}
