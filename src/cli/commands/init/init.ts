import { type Command, Option } from 'commander';
import { loadConfig } from '../../../config/config.js';
import { timeAhead } from '../options.js';
import type { InitOptions } from './environment.js';

/** Long enough to issue its replacement. */
const FIRST_TOKEN_LIFETIME = '30d';

const timeAheadOrNever = (text: string) => (text === 'never' ? 'never' : timeAhead(text));

const NOTES = `
The directory is DATA_DIR and the key file SECRETS_KEY_FILE, or a PostgreSQL database where DATABASE_URL is set:
\`integration config\` says what is in force. The key file is not in the directory: back it up apart from copies of the
database. Without it, all encrypted data is lost.

The first operator token ends after 30 days unless told otherwise. Rotate it before: \`integration token rotate\`.
If no operator token works any more, \`integration init\` issues a new one.

Where TEMPORAL_ADDRESS is set, init also makes the namespace TEMPORAL_NAMESPACE (retention: 30 days) and the search
attributes. \`integration init --temporal\` does only this, also for a demo, and can be repeated: it changes nothing
that exists. Each installation needs a namespace of its own: init refuses one that belongs to another SIGN_ON_URL.

Examples:
  $ ENVIRONMENT=live integration init
  $ ENVIRONMENT=live TEMPORAL_ADDRESS=temporal.internal:7233 TEMPORAL_TLS=on integration init --temporal
  $ DATA_DIR=/var/lib/integration-service/live integration init --json`;

export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('Make a live environment: directory, encryption key, database, first operator token')
    .addOption(
      new Option(
        '--token-expires <when>',
        'when the first operator token ends: a UTC time, a duration such as 90d, or never',
      )
        .argParser(timeAheadOrNever)
        .default(timeAheadOrNever(FIRST_TOKEN_LIFETIME), FIRST_TOKEN_LIFETIME),
    )
    .option(
      '--replace-unused',
      'if the output of init was lost: issue a new operator token, and revoke the only one that works if it was never used',
    )
    .option('--temporal', 'make only the namespace and the search attributes in Temporal')
    .option('--json', 'as one JSON object')
    .addHelpText('after', NOTES)
    .action(async (options: InitOptions & { temporal?: boolean }) => {
      if (options.temporal) {
        const { initTemporal } = await import('./temporal.js');
        await initTemporal(loadConfig(process.env, { strict: true, secrets: [] }), options);
        return;
      }
      const { init } = await import('./environment.js');
      await init(loadConfig(process.env, { strict: true, secrets: ['DATABASE_URL'] }), options);
    });
}
