import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';
import type { ResumeOptions } from './resume-actions.js';

const NOTES = `
\`integration restore\` suspends what may have been revoked since the backup: subscriptions (unless --send-webhooks), and
API keys, tokens and client secrets if it runs without --revocations and --keep-keys. Without arguments, the command
lists what is still suspended. It opens the database that DATA_DIR or DATABASE_URL names; the service may be running.

What you do not resume stays suspended. \`integration key revoke\` and \`integration token revoke\` end a key or token
permanently. Held deliveries of a subscription stay held until \`integration event replay\`: the command prints how to send
them, with the time of the oldest event. A subscription is not resumed while its instance integration is not configured.

Exit codes: 0 done · 1 failed, or some were not resumed · 2 wrong usage · 78 no such database

Examples:
  $ integration resume
  $ integration resume key_… tok_… whs_…
  $ integration resume --all api_key service_token client_secret`;

export function addResumeCommand(program: Command): void {
  program
    .command('resume')
    .description('List or resume what a restore suspended')
    .argument('[ids...]', 'ids of the items to resume')
    .option(
      '--all [kinds...]',
      'resume everything, or everything of these kinds: api_key, service_token, client_secret, subscription',
    )
    .option('--json', 'print as JSON')
    .addHelpText('after', NOTES)
    .action(async (ids: string[], options: ResumeOptions) => {
      const { resumeSuspended } = await import('./resume-actions.js');
      await resumeSuspended(loadConfig(process.env, { secrets: ['DATABASE_URL'] }), ids, options);
    });
}
