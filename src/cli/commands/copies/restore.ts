import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';
import { stopSignal } from '../../stop-signals.js';
import { say } from '../output/print.js';
import type { RestoreOptions } from './restore-actions.js';

const NOTES = `
The command restores into DATA_DIR, which must be missing or empty except for the key file, or into the empty database
of DATABASE_URL (with pg_restore, without extensions). It checks the checksums, every page (SQLite), the rows of each
table and the encryption key. You can repeat an interrupted restore; the service refuses to start on an incomplete one.

A backup does not know what was revoked after it was made. Therefore, in the restored database
  sessions, refresh and access tokens, codes and emailed links end, and signing keys are replaced (unless --keep-sessions)
  consents are deleted, because consents that were withdrawn would be back: people are asked again
  webhooks are held: subscriptions are disabled and their pending deliveries are held (unless --send-webhooks)
  with --revocations, items that are not on the list end permanently: keys, tokens and client secrets (or they get the
    earlier expiry of the list), passwords, accounts (also those whose email address was changed later), users and
    workers, applications, their redirect URIs, scopes and grant types, configured instance integrations, subscriptions
    and their secrets. Make the list from the damaged database, or use valid.jsonl of a newer backup. It must
    contain a change that is newer than the backup. The list does not cover roles, permissions, other settings of
    applications (such as PKCE), or URLs and filters of subscriptions
  without --revocations, or with a list that is older than an hour, API keys, tokens and client secrets are suspended
    until \`integration resume\` (unless --keep-keys)
  without --revocations, everything else is as in the backup: people who have left, disabled accounts, changed
    passwords, memberships, redirect URIs, instance integrations whose configuration was removed

Exit codes: 0 restored and checked · 1 the backup is damaged or the restore failed · 2 wrong usage · 78 cannot restore to this target

Examples:
  $ integration restore /var/backups/integration-service/monday --revocations /var/backups/integration-service/valid-now.jsonl
  $ integration restore /var/backups/integration-service/tuesday --passphrase-file /etc/integration-service/passphrase`;

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('Restore a backup into an empty database, without what was revoked since')
    .argument('<folder>', 'the folder of the backup')
    .option(
      '--revocations <file>',
      'list of what is valid now, from `integration revocations` or valid.jsonl of a newer backup',
    )
    .option(
      '--passphrase-file <file>',
      'passphrase of the key in the backup, if SECRETS_KEY_FILE is missing; without it, the command asks',
    )
    .option('--keep-sessions', 'keep sessions and tokens: people stay signed in')
    .option('--keep-keys', 'do not suspend API keys, tokens and client secrets: none was revoked since')
    .option('--send-webhooks', 'send pending deliveries of the backup, even if they were sent since')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', NOTES)
    .action(async (folder: string, options: RestoreOptions) => {
      // Runs the exit handlers, which end pg_restore. The place stays incomplete.
      stopSignal().signal.addEventListener('abort', () => {
        say('The restore was interrupted. Run it again (PostgreSQL: into a new database).');
        process.exit(1);
      });
      const { restore } = await import('./restore-actions.js');
      await restore(loadConfig(process.env, { secrets: ['DATABASE_URL'] }), folder, options);
    });
}
