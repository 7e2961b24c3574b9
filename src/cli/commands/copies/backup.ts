import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';
import type { BackupOptions } from './backup-actions.js';

const NOTES = `
The command backs up the database that DATA_DIR or DATABASE_URL names. The service may be running; the backup contains
every write that it acknowledged before the command began. PostgreSQL needs pg_dump of the server's release on the PATH.

The backup does not contain the encryption key: store a copy of SECRETS_KEY_FILE elsewhere. With --with-key the backup
contains the key file, encrypted with a passphrase; store the passphrase elsewhere.

Exit codes: 0 the backup is complete and on the disk · 1 the backup failed and was removed · 2 wrong usage · 78 no such database

Examples:
  $ integration backup /var/backups/integration-service/monday
  $ integration backup /var/backups/integration-service/tuesday --with-key --passphrase-file /etc/integration-service/passphrase`;

export function addBackupCommand(program: Command): void {
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
    .addHelpText('after', NOTES)
    .action(async (folder: string, options: BackupOptions) => {
      const { backup } = await import('./backup-actions.js');
      await backup(loadConfig(process.env, { secrets: ['DATABASE_URL'] }), folder, options);
    });
}
