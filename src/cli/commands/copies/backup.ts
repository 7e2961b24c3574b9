import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';
import type { BackupOptions } from './backup-actions.js';

const NOTES = `
It copies the database that DATA_DIR or DATABASE_URL names; the service may run meanwhile, and every write that it
acknowledged before is in the copy. PostgreSQL is copied by pg_dump, which must be on the PATH.

The encryption key is not in a backup: keep a copy of SECRETS_KEY_FILE elsewhere. --with-key puts it in, encrypted with a
passphrase, which you must keep elsewhere.

Exit codes: 0 the backup is complete and on the disk · 1 it failed, and nothing is left · 2 wrong usage · 78 no such database

Examples:
  $ integration backup /var/backups/integration/2027-01-31
  $ integration backup /var/backups/integration/2027-01-31 --with-key --passphrase-file /root/passphrase`;

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('Copy the database into a new folder, with a manifest, while the service runs')
    .argument('<folder>', 'the new folder; one that exists is refused')
    .option('--with-key', 'put the key file in, encrypted with a passphrase')
    .option('--passphrase-file <file>', 'a file with the passphrase in its first line; asked for otherwise')
    .option('--json', 'print the manifest as JSON')
    .addHelpText('after', NOTES)
    .action(async (folder: string, options: BackupOptions) => {
      const { backup } = await import('./backup-actions.js');
      await backup(loadConfig(process.env), folder, options);
    });
}
