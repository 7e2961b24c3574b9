import type { Command } from 'commander';
import { timeAhead } from '../option-parsers.js';
import { addTargetOptions, TARGET_NOTE } from '../target-options.js';
import type { ExpiringOptions } from './expiring-actions.js';
import { examples } from './group.js';

const NOTES = `
Lists active API keys and service tokens, and the secrets of applications and subscriptions, which end only after a
rotation. Signing keys rotate by themselves. Of certificates, only the metric tls_certificate_not_after_seconds tells.

${TARGET_NOTE}
`;

export function addExpiringCommand(program: Command): void {
  const command = addTargetOptions(program.command('expiring'))
    .description('List keys, tokens and secrets that expire soon')
    .option('--within <when>', 'a time, or a duration such as 90d; 30d unless given', timeAhead)
    .option('--json', 'as JSON, for scripts')
    .addHelpText('after', NOTES + examples('expiring --within 90d', 'expiring --within 14d --json'));
  command.action(async () => {
    const [{ run }, { expiring }] = await Promise.all([
      import('./session.js'),
      import('./expiring-actions.js'),
    ]);
    await run(expiring, [], command.opts<ExpiringOptions>());
  });
}
