import type { Command } from 'commander';
import { loadConfig } from '../../../config/config.js';

const NOTES = `
It reads the database that DATA_DIR or DATABASE_URL names, which may be running or damaged, and writes what is valid now:
the ids of keys, tokens, client secrets, applications, people, connected instances, subscriptions and signing keys, with
their ends; redirect URIs, scopes and grant types; and hashes of email addresses. It writes no secrets.
\`integration restore --revocations <file>\` ends in an older copy what is not in the list.

Each backup has such a list, valid.json: that of a newer backup serves as well.

Exit codes: 0 written · 1 failed · 2 wrong usage · 78 no such database

Examples:
  $ integration revocations /root/valid-now.json
  $ DATA_DIR=/var/lib/integration.damaged integration revocations /root/valid-now.json`;

export function addRevocationsCommand(program: Command): void {
  program
    .command('revocations')
    .description('Write what is valid now, so that a restore ends what was revoked since its backup')
    .argument('<file>', 'the new file; one that exists is refused')
    .addHelpText('after', NOTES)
    .action(async (file: string) => {
      const { revocations } = await import('./revocations-actions.js');
      await revocations(loadConfig(process.env), file);
    });
}
