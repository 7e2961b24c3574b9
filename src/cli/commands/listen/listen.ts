import type { Command } from 'commander';
import { addTargetOptions, assertIs, eventPatterns, idOf, TARGET_NOTE } from '../options.js';
import type { ListenOptions } from './listen-session.js';

const NOTES = `
The command starts a receiver on this machine, which must be that of the service, and subscribes it until the command
ends. It verifies the signature of each event and prints a line for it. With --forward-to it sends each event on, with
the same headers and body, and returns the answer to the service. It works with the demo environment only: live sends
events to https addresses only.

${TARGET_NOTE}

Examples:
  $ integration listen
  $ integration listen --forward-to localhost:3000/webhooks --events "user.*,worker.updated"
  $ integration listen --json | jq 'select(.type == "user.created") | .event.data'`;

export function addListenCommand(program: Command): void {
  addTargetOptions(program.command('listen'))
    .description('Receive the events of the demo here, verify and print them, and forward them if asked')
    .option('--forward-to <url>', 'address to which each event is forwarded', forwardAddress)
    .option(
      '--instance-integration <connection>',
      'receive its events; without it, those of the first one of the demo',
      idOf('iin'),
    )
    .option(
      '--events <types>',
      'event types or patterns such as user.*, separated by commas; without it, all',
      eventPatterns,
    )
    .option('--json', 'print one JSON object per line; the first has the signing secret')
    .addHelpText('after', NOTES)
    .action(async (options: ListenOptions) => {
      const { listen } = await import('./listen-session.js');
      await listen(options);
    });
}

/** Adds the scheme that people leave out: `localhost:3000/webhooks`. */
function forwardAddress(text: string): string {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const isHttp = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  assertIs(isHttp, 'It must be an address such as http://localhost:3000/webhooks.');
  return new URL(address).href;
}
