import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';

const NOTES = `
The command reads the database that DATA_DIR or DATABASE_URL names, which may be in use or damaged, and writes a list of
what is valid now: the ids of keys, tokens, client secrets, applications, accounts, users, workers, configured instance
integrations, subscriptions and signing keys, with expiry times; redirect URIs, scopes and grant types; and hashes of
email addresses. The list contains no secrets. \`integration restore --revocations <file>\` ends every item of an older
backup that is not on the list.

Each backup contains such a list, valid.jsonl. You can use valid.jsonl of a newer backup instead.

Exit codes: 0 written · 1 failed · 2 wrong usage · 78 no such database

Examples:
  $ integration revocations /var/backups/integration-service/valid-now.jsonl
  $ DATA_DIR=/var/lib/integration-service/live.damaged integration revocations /var/backups/integration-service/valid-now.jsonl`;

export function addRevocationsCommand(program: Command): void {
  program
    .command('revocations')
    .description(
      'Write a list of what is valid now, so that a restore ends what was revoked since the backup',
    )
    .argument('<file>', 'a new file; the command refuses an existing one')
    .addHelpText('after', NOTES)
    .action(async (file: string) => {
      const { revocations } = await import('./revocations-actions.js');
      await revocations(loadConfig(process.env, { secrets: ['DATABASE_URL'] }), file);
    });
}
