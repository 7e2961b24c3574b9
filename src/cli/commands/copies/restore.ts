import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';
import type { RestoreOptions } from './restore-actions.js';

const NOTES = `
It fills DATA_DIR, which must be missing or empty except for the key file, or the empty database of DATABASE_URL (by
pg_restore), and checks it: checksums, every page, the rows of each table, the encryption key. An interrupted
restore can be repeated; the service starts only on a complete one.

A backup is older than what was revoked since. So in the copy
  sessions, refresh and access tokens, codes and mailed links end, and signing keys are replaced (unless --keep-sessions)
  webhooks are held: subscriptions are disabled, with what they had to send (unless --send-webhooks)
  with --revocations, what the list lacks ends for good: keys, tokens and client secrets (or they get their earlier
    end), passwords, accounts (also those whose email address was changed since), users and workers, applications,
    their redirect URIs, scopes and grant types, configured instance integrations, subscriptions and their secrets.
    Make the list from the damaged database, or use valid.json of a newer backup. It does not show changes of roles,
    permissions, consents, other settings of applications (such as PKCE), or addresses and filters of subscriptions
  without it, API keys, tokens and client secrets are suspended until \`integration resume\` (unless --keep-keys)

Exit codes: 0 restored and checked · 1 the backup is damaged or the copy failed · 2 wrong usage · 78 cannot restore into this place

Examples:
  $ integration restore /var/backups/integration/2027-01-31 --revocations /root/valid-now.json
  $ DATA_DIR=/var/lib/integration integration restore /mnt/2027-01-31 --passphrase-file /root/passphrase`;

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('Make a database from a backup in an empty place, without what was revoked since')
    .argument('<folder>', 'the backup')
    .option(
      '--revocations <file>',
      'what is valid now, written by `integration revocations`, or valid.json of a newer backup',
    )
    .option(
      '--passphrase-file <file>',
      'for the key in the backup, where SECRETS_KEY_FILE is missing; asked for otherwise',
    )
    .option('--keep-sessions', 'people stay signed in, and applications keep their tokens')
    .option('--keep-keys', 'without a list: API keys, tokens and client secrets work as in the backup')
    .option('--send-webhooks', 'send what the backup had still to send, also what was sent since')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', NOTES)
    .action(async (folder: string, options: RestoreOptions) => {
      const { restore } = await import('./restore-actions.js');
      await restore(loadConfig(process.env), folder, options);
    });
}
