import type { Command } from 'commander';
import { loadConfig } from '../../config/config.js';

const NOTES = `
The directory is DATA_DIR and the key file SECRETS_KEY_FILE, or a PostgreSQL database where DATABASE_URL is set:
\`integration config\` says what is in force. The key file is not in the directory: back it up apart from copies of the
database. Without it what is encrypted there is lost.

Examples:
  $ ENVIRONMENT=live integration init
  $ DATA_DIR=/var/lib/integration integration init --json`;

export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('Make a live environment: directory, encryption key, database, first operator token')
    .option('--json', 'as one JSON object')
    .addHelpText('after', NOTES)
    .action(async (options: { json?: boolean }) => {
      const { init } = await import('./init-environment.js');
      await init(loadConfig(process.env), options);
    });
}
