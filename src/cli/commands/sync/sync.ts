import { type Command, Option } from 'commander';
import { assertIs } from '../options.js';
import type { SyncCommandOptions } from './sync-session.js';

const NOTES = `
Loads all clients, workers, users, units and job titles that the gateway shows of an instance into a SQLite file, then
keeps the file equal until Ctrl-C. At the start and every hour it compares the digests with those of the gateway, 200
clients a minute; what differs is reported and read again. With --once, an end before that, such as Ctrl-C, has the
exit code 1. The file has everything that is needed to continue: the same command goes on after an end of any kind,
and so do the SDKs (\`sync\`). Its table \`entities\` has a row for each, with the JSON of the API.

Gateway and key come from $DATA_DIR/demo.json of the demo environment, or are both given: the key in
INTEGRATION_API_KEY, or in a file that INTEGRATION_API_KEY_FILE names. Only a gateway on this machine may have http://.

A line is printed after its change is in the file. Lines are sent at most once; the file is authoritative: after a
kill, lines of changes that the file already has are missing. The file is made for its owner alone (mode 600); one that
other users could read is refused. Run one sync per file: one that finds the progress of another ends with exit code 1.

Examples:
  $ integration sync --to copy.sqlite
  $ INTEGRATION_API_KEY_FILE=key integration sync --to copy.sqlite --gateway https://gateway.example.com --once
  $ sqlite3 copy.sqlite "select resource ->> 'fullName' from entities where type = 'worker'"`;

export function addSyncCommand(program: Command): void {
  program
    .command('sync')
    .description('Keep a copy of the data of an instance, as the gateway shows it, in a SQLite file')
    .requiredOption('--to <file>', 'the SQLite file: a new one, or the copy to continue', filePath)
    .addOption(
      new Option('--gateway <url>', 'where the gateway is')
        .env('INTEGRATION_GATEWAY')
        .argParser(gatewayAddress),
    )
    .option(
      '--instance-integration <connection>',
      'what to copy; if not given, the only one of the key or the first of the demo',
    )
    .option('--once', 'end when the copy is complete and compared')
    .option('--json', 'print one JSON object per line: change, difference, complete')
    .addHelpText('after', NOTES)
    .action(async (options: SyncCommandOptions) => {
      const { sync } = await import('./sync-session.js');
      await sync(options);
    });
}

/** SQLite would keep a copy with one of these names in memory. */
function filePath(text: string): string {
  const path = text.trim();
  assertIs(path !== '' && path !== ':memory:', 'It must be a file.');
  return path;
}

function gatewayAddress(text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  assertIs(isHttp, 'It must be an address such as https://gateway.example.com.');
  return text;
}
