import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';

const NOTES = `
A cursor of …/changes is the position up to which a reader has read. A restored database may lack changes that readers
have, and give their positions to later changes, which readers would then miss. \`integration restore\` prevents this. On
PostgreSQL the service detects another server, a promoted replica and a recovery to a point in time. Run this command after
every other restore: of a disk snapshot, of a SQLite file, or on a database service that does not show its timeline, for
example Amazon Aurora.

The service then answers all earlier cursors with 410, and their readers load everything again. If you can, run the command
before the service starts. It opens the database that DATA_DIR or DATABASE_URL names.

Exit codes: 0 done · 1 failed · 2 wrong usage · 78 no such database`;

export function addExpireCursorsCommand(program: Command): void {
  program
    .command('expire-cursors')
    .description('Expire all cursors of …/changes, after a restore by other means than `integration restore`')
    .addHelpText('after', NOTES)
    .action(async () => {
      const { expireAllCursors } = await import('./expire-cursors-actions.js');
      await expireAllCursors(loadConfig(process.env, { secrets: ['DATABASE_URL'] }));
    });
}
