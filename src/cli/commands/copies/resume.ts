import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';
import type { ResumeOptions } from './resume-actions.js';

const NOTES = `
\`integration restore\` suspends what may have been revoked since its backup: API keys, tokens and client secrets without
a list of revocations, and always subscriptions. Without arguments this lists what is still suspended. It opens the database that DATA_DIR or
DATABASE_URL names; the service may run meanwhile.

What is not resumed stays without effect. \`integration key revoke\` and \`integration token revoke\` end it for good.
The events that a subscription missed stay held until \`integration event replay\`.

Exit codes: 0 done · 1 failed · 2 wrong usage · 78 no such database

Examples:
  $ integration resume
  $ integration resume key_… tok_… whs_…
  $ integration resume --all api_key service_token client_secret`;

export function addResumeCommand(program: Command): void {
  program
    .command('resume')
    .description('List what a restore suspended, or let it work again')
    .argument('[ids...]', 'what to resume')
    .option(
      '--all [kinds...]',
      'resume all, or all of these kinds: api_key, service_token, client_secret, subscription',
    )
    .option('--json', 'as JSON')
    .addHelpText('after', NOTES)
    .action(async (ids: string[], options: ResumeOptions) => {
      const { resumeSuspended } = await import('./resume-actions.js');
      await resumeSuspended(loadConfig(process.env), ids, options);
    });
}
