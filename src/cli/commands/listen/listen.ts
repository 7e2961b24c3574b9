import { type Command, InvalidArgumentError } from 'commander';
import { eventPatterns } from '../option-parsers.js';
import { addTargetOptions, TARGET_NOTE } from '../target-options.js';
import type { ListenOptions } from './listen-session.js';

const NOTES = `
A receiver on this machine, which must be that of the service, is subscribed for as long as this runs. Each event is
verified as an integrator would do it and told in a line. With --forward-to it is posted on, headers and bytes as they
came, and what that address answers is what the service gets. For the demo environment only: live posts to https alone.

${TARGET_NOTE}

Examples:
  $ integration listen
  $ integration listen --forward-to localhost:3000/webhooks --events "user.*,worker.updated"
  $ integration listen --json | jq 'select(.type == "user.created") | .event.data'`;

export function addListenCommand(program: Command): void {
  addTargetOptions(program.command('listen'))
    .description('Receive the events of the demo here, verify and print them, and forward them if asked')
    .option('--forward-to <url>', 'address to which each event is forwarded', forwardAddress)
    .option('--instance-integration <connection>', 'whose events; the first of the demo unless given')
    .option('--events <types>', 'types, user.* or *, with commas between; all unless given', eventPatterns)
    .option('--json', 'a JSON object a line, the first with the signing secret')
    .addHelpText('after', NOTES)
    .action(async (options: ListenOptions) => {
      const { listen } = await import('./listen-session.js');
      await listen(options);
    });
}

/** Adds the scheme that people leave out: `localhost:3000/webhooks`. */
function forwardAddress(text: string): string {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new InvalidArgumentError('It must be an address such as http://localhost:3000/webhooks.');
  }
  return new URL(address).href;
}
