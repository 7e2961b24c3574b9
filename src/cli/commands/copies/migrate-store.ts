import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';
import { stopSignal } from '../../stop-signals.js';
import { say } from '../output/print.js';
import type { MigrateStoreOptions } from './migrate-store-actions.js';

const NOTES = `
The command copies the SQLite database in DATA_DIR into an empty PostgreSQL database and compares every row with its
source. Stop the service first. The PostgreSQL database is that of --to or, without --to, of DATABASE_URL or
DATABASE_URL_FILE; other users of this machine can see a password in --to.

SQLite is not changed. You can repeat a failed or interrupted move. When the move is complete, the service refuses to
start on the SQLite database: set DATABASE_URL to the PostgreSQL database. The key file and the other settings stay.

Exit codes: 0 moved and compared · 1 the move failed · 2 wrong usage · 78 cannot move between these databases

Examples:
  $ DATABASE_URL_FILE=/etc/integration-service/credentials/database-url integration migrate-store
  $ integration migrate-store --to postgres://integration@localhost/integration --json`;

export function addMigrateStoreCommand(program: Command): void {
  program
    .command('migrate-store')
    .description('Move the database from SQLite to PostgreSQL, and compare every row')
    .option('--to <url>', 'the empty PostgreSQL database; without it, that of DATABASE_URL')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', NOTES)
    .action(async ({ to, ...options }: MigrateStoreOptions & { to?: string }) => {
      stopSignal().signal.addEventListener('abort', () => {
        say('The move was interrupted. Run the command again, or start the service on SQLite.');
        process.exit(1);
      });
      const { migrateStore } = await import('./migrate-store-actions.js');
      const given =
        to === undefined ? process.env : { ...process.env, DATABASE_URL: to, DATABASE_URL_FILE: '' };
      await migrateStore(loadConfig(given, { secrets: ['DATABASE_URL'] }), options);
    });
}
