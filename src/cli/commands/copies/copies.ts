import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';
import { stopSignal } from '../../stop-signals.js';
import { say } from '../output/print.js';
import type { BackupOptions } from './backup-actions.js';
import type { MigrateStoreOptions } from './migrate-store-actions.js';
import type { RestoreOptions } from './restore-actions.js';
import type { ResumeOptions } from './resume-actions.js';

/** The commands of this folder, in the order of the help. */
export function addCopyCommands(program: Command): void {
  addBackup(program);
  addRestore(program);
  addRevocations(program);
  addResume(program);
  addExpireCursors(program);
  addMigrateStore(program);
}

/** These commands read no secret setting but the address of the database. */
function ownConfig(environment = process.env) {
  return loadConfig(environment, { secrets: ['DATABASE_URL'] });
}

/** Exits at a stop signal: the exit handlers end pg_restore, and the target stays incomplete. */
function exitOnStop(sentence: string): void {
  stopSignal().signal.addEventListener('abort', () => {
    say(sentence);
    process.exit(1);
  });
}

const BACKUP_NOTES = `
The command backs up the database that DATA_DIR or DATABASE_URL names. The service may be running; the backup contains
every write that it acknowledged before the command began. PostgreSQL needs pg_dump of the server's release on the PATH.

The backup does not contain the encryption key: store a copy of SECRETS_KEY_FILE elsewhere. With --with-key the backup
contains the key file, encrypted with a passphrase; store the passphrase elsewhere.

Exit codes: 0 the backup is complete and on the disk · 1 the backup failed and was removed · 2 wrong usage · 78 no such database

Examples:
  $ integration backup /var/backups/integration-service/monday
  $ integration backup /var/backups/integration-service/tuesday --with-key --passphrase-file /etc/integration-service/passphrase`;

function addBackup(program: Command): void {
  program
    .command('backup')
    .description('Back up the database into a new folder, even while the service runs')
    .argument('<folder>', 'a new folder; the command refuses an existing one')
    .option('--with-key', 'include the key file, encrypted with a passphrase')
    .option(
      '--passphrase-file <file>',
      'a file with the passphrase in its first line; without it, the command asks',
    )
    .option('--json', 'print the manifest as JSON')
    .addHelpText('after', BACKUP_NOTES)
    .action(async (folder: string, options: BackupOptions) => {
      const { backup } = await import('./backup-actions.js');
      await backup(ownConfig(), folder, options);
    });
}

const RESTORE_NOTES = `
The command restores into DATA_DIR, which must be missing or empty except for the key file, or into the empty database
of DATABASE_URL (with pg_restore, without extensions). It checks the checksums, every page (SQLite), the rows of each
table and the encryption key. You can repeat an interrupted restore; the service refuses to start on an incomplete one.

A backup does not know what was revoked after it was made. Therefore, in the restored database
  sessions, refresh and access tokens, codes and emailed links end, and signing keys are replaced (unless --keep-sessions)
  consents are deleted, because consents that were withdrawn would be back: people are asked again
  webhooks are held: subscriptions are disabled and their pending deliveries are held (unless --send-webhooks)
  with --revocations, items that are not on the list end permanently: keys, tokens and client secrets (or they get the
    earlier expiry of the list), passwords, accounts (also those whose email address was changed later), users and
    workers, applications, their redirect and post-logout redirect URIs, scopes and grant types, configured instance
    integrations, subscriptions and their secrets. Make the list from the damaged database, or use valid.jsonl of a
    newer backup. It must contain a change that is newer than the backup. The list does not cover roles, permissions,
    other settings of applications (such as PKCE), or URLs and filters of subscriptions
  without --revocations, or with a list that is older than an hour, API keys, tokens and client secrets are suspended
    until \`integration resume\` (unless --keep-keys)
  without --revocations, everything else is as in the backup: people who have left, disabled accounts, changed
    passwords, memberships, redirect URIs, instance integrations whose configuration was removed

Exit codes: 0 restored and checked · 1 the backup is damaged or the restore failed · 2 wrong usage · 78 cannot restore to this target

Examples:
  $ integration restore /var/backups/integration-service/monday --revocations /var/backups/integration-service/valid-now.jsonl
  $ integration restore /var/backups/integration-service/tuesday --passphrase-file /etc/integration-service/passphrase`;

function addRestore(program: Command): void {
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
    .addHelpText('after', RESTORE_NOTES)
    .action(async (folder: string, options: RestoreOptions) => {
      exitOnStop('The restore was interrupted. Run it again (PostgreSQL: into a new database).');
      const { restore } = await import('./restore-actions.js');
      await restore(ownConfig(), folder, options);
    });
}

const REVOCATIONS_NOTES = `
The command reads the database that DATA_DIR or DATABASE_URL names, which may be in use or damaged, and writes a list of
what is valid now: the ids of keys, tokens, client secrets, applications, accounts, users, workers, configured instance
integrations, subscriptions and signing keys, with expiry times; redirect and post-logout redirect URIs, scopes and
grant types; and hashes of email addresses. The list contains no secrets. \`integration restore --revocations <file>\`
ends every item of an older backup that is not on the list.

Each backup contains such a list, valid.jsonl. You can use valid.jsonl of a newer backup instead.

Exit codes: 0 written · 1 failed · 2 wrong usage · 78 no such database

Examples:
  $ integration revocations /var/backups/integration-service/valid-now.jsonl
  $ DATA_DIR=/var/lib/integration-service/live.damaged integration revocations /var/backups/integration-service/valid-now.jsonl`;

function addRevocations(program: Command): void {
  program
    .command('revocations')
    .description(
      'Write a list of what is valid now, so that a restore ends what was revoked since the backup',
    )
    .argument('<file>', 'a new file; the command refuses an existing one')
    .addHelpText('after', REVOCATIONS_NOTES)
    .action(async (file: string) => {
      const { revocations } = await import('./revocations-actions.js');
      await revocations(ownConfig(), file);
    });
}

const RESUME_NOTES = `
\`integration restore\` suspends what may have been revoked since the backup: subscriptions (unless --send-webhooks), and
API keys, tokens and client secrets (unless it runs with --keep-keys, or with a list that is not older than an hour).
Without arguments, the command lists what is still suspended. It opens the database that DATA_DIR or DATABASE_URL names;
the service may be running.

What you do not resume stays suspended. \`integration key revoke\` and \`integration token revoke\` end a key or token
permanently. Held deliveries of a subscription stay held until \`integration event replay\`: the command prints how to send
them, with the time of the oldest event. A subscription is not resumed while its instance integration is not configured.

Exit codes: 0 done · 1 failed, or some were not resumed · 2 wrong usage · 78 no such database

Examples:
  $ integration resume
  $ integration resume key_… tok_… whs_…
  $ integration resume --all api_key service_token client_secret`;

function addResume(program: Command): void {
  program
    .command('resume')
    .description('List or resume what a restore suspended')
    .argument('[ids...]', 'ids of the items to resume')
    .option(
      '--all [kinds...]',
      'resume everything, or everything of these kinds: api_key, service_token, client_secret, subscription',
    )
    .option('--json', 'print as JSON')
    .addHelpText('after', RESUME_NOTES)
    .action(async (ids: string[], options: ResumeOptions) => {
      const { resumeSuspended } = await import('./resume-actions.js');
      await resumeSuspended(ownConfig(), ids, options);
    });
}

const EXPIRE_NOTES = `
A cursor of …/changes is the position up to which a reader has read. A restored database may lack changes that readers
have, and give their positions to later changes, which readers would then miss. \`integration restore\` prevents this. On
PostgreSQL the service detects another server, a promoted replica and a recovery to a point in time. Run this command after
every other restore: of a disk snapshot, of a SQLite file, or on a database service that does not show its timeline, for
example Amazon Aurora.

The service then answers all earlier cursors with 410, and their readers load everything again. If you can, run the command
before the service starts. It opens the database that DATA_DIR or DATABASE_URL names.

Exit codes: 0 done · 1 failed · 2 wrong usage · 78 no such database`;

function addExpireCursors(program: Command): void {
  program
    .command('expire-cursors')
    .description('Expire all cursors of …/changes, after a restore by other means than `integration restore`')
    .addHelpText('after', EXPIRE_NOTES)
    .action(async () => {
      const { expireAllCursors } = await import('./expire-cursors-actions.js');
      await expireAllCursors(ownConfig());
    });
}

const MIGRATE_NOTES = `
The command copies the SQLite database in DATA_DIR into an empty PostgreSQL database and compares every row with its
source. Stop the service first. The PostgreSQL database is that of --to or, without --to, of DATABASE_URL or
DATABASE_URL_FILE; other users of this machine can see a password in --to.

SQLite is not changed. You can repeat a failed or interrupted move. When the move is complete, the service refuses to
start on the SQLite database: set DATABASE_URL to the PostgreSQL database. The key file and the other settings stay.

Exit codes: 0 moved and compared · 1 the move failed · 2 wrong usage · 78 cannot move between these databases

Examples:
  $ DATABASE_URL_FILE=/etc/integration-service/credentials/database-url integration migrate-store
  $ integration migrate-store --to postgres://integration@localhost/integration --json`;

function addMigrateStore(program: Command): void {
  program
    .command('migrate-store')
    .description('Move the database from SQLite to PostgreSQL, and compare every row')
    .option('--to <url>', 'the empty PostgreSQL database; without it, that of DATABASE_URL')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', MIGRATE_NOTES)
    .action(async ({ to, ...options }: MigrateStoreOptions & { to?: string }) => {
      exitOnStop('The move was interrupted. Run the command again, or start the service on SQLite.');
      const { migrateStore } = await import('./migrate-store-actions.js');
      const given =
        to === undefined ? process.env : { ...process.env, DATABASE_URL: to, DATABASE_URL_FILE: '' };
      await migrateStore(ownConfig(given), options);
    });
}
