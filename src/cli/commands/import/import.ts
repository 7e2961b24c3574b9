import type { Command } from 'commander';
import { addTargetOptions, TARGET_NOTE } from '../options.js';
import type { ImportCommandOptions } from './import-records.js';

const NOTES = `
Each line of the file is a JSON object with one member, named by the record that it creates: client, role, user,
unitType, unit, location, jobTitle or worker. Its value has the fields of the method that creates such a record; with an
idempotencyKey in each line you can import the same file again. A line has at most 250,000 bytes and is imported or
refused as a whole. After Ctrl-C, the lines that were read are imported and reported. Exit code 1 means that lines were
refused, or not read.

${TARGET_NOTE}

Examples:
  $ integration import people.jsonl --dry-run
  $ echo '{"client": {"instanceId": "ins_…", "name": "Northwind"}}' | integration import - --ids --json`;

export function addImportCommand(program: Command): void {
  addTargetOptions(program.command('import'))
    .description('Create many records from a file, and list the lines that are refused')
    .argument('<file>', 'the file, or - for what is piped in')
    .option('--dry-run', 'check every line and write none')
    .option('--stop-at-first-refusal', 'stop at the first refused line; earlier lines stay imported')
    .option('--ids', 'also list the ids of what was created')
    .option('--json', 'the outcome as one JSON object')
    .addHelpText('after', NOTES)
    .action(async (file: string, options: ImportCommandOptions) => {
      const { importRecords } = await import('./import-records.js');
      await importRecords(file, options);
    });
}
