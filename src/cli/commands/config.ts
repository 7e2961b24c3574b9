import type { Command } from 'commander';
import { describeConfig, loadConfig } from '../../config/config.js';
import { print } from './output/print.js';

export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('Print the settings in force, secrets masked')
    .option('--json', 'as one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ integration config\n  $ ENVIRONMENT=demo integration config --json',
    )
    .action(({ json }: { json?: boolean }) => {
      const rows = describeConfig(loadConfig(process.env), process.env);
      print(json ? asJson(rows) : asTable(rows));
    });
}

type Row = ReturnType<typeof describeConfig>[number];

function asJson(rows: readonly Row[]): string {
  return JSON.stringify(Object.fromEntries(rows.map(({ name, value }) => [name, value])), null, 2);
}

/** Marks the settings that are set in the environment; the rest are defaults. */
function asTable(rows: readonly Row[]): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const valueWidth = Math.max(...rows.map(({ value }) => value.length));
  const lines = rows.map(
    ({ name, value, isDefault, about }) =>
      `${isDefault ? ' ' : '*'} ${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${about}`,
  );
  return `${lines.join('\n')}\n\n* set in the environment`;
}
