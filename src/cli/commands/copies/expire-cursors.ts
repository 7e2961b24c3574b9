import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';

const NOTES = `
A cursor of …/changes says how far a reader has read. If the database lacks some of that and gives the same positions to
other changes, the reader misses these. \`integration restore\` takes care of it, and on PostgreSQL the service notices another
server, a promoted replica and a recovery to a point in time. Run this command after any other restore: of a snapshot of a
disk, of a SQLite file, or on a database service that does not show its timeline, for example Amazon Aurora.

The service answers all earlier cursors with 410, and copies load everything again. Run the command before the service
starts if you can. It opens the database that DATA_DIR or DATABASE_URL names.

Exit codes: 0 done · 1 failed · 2 wrong usage · 78 no such database`;

export function addExpireCursorsCommand(program: Command): void {
  program
    .command('expire-cursors')
    .description('Make readers of changes begin again, after a restore without `restore`')
    .addHelpText('after', NOTES)
    .action(async () => {
      const { expireAllCursors } = await import('./expire-cursors-actions.js');
      await expireAllCursors(loadConfig(process.env, { secrets: ['DATABASE_URL'] }));
    });
}
