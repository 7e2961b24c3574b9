import type { Command } from 'commander';
import { collected, commaSeparated, timeAhead } from '../option-parsers.js';
import { addTargetOptions, TARGET_NOTE } from '../target-options.js';
import { examples } from './group.js';
import type { OnboardOptions } from './onboard-actions.js';

const NOTES = `
Makes the integration, connects it to the instance, and issues an API key; with --redirect-uri an application too, and
with --webhook-url a subscription. All secrets are printed once, at the end. If a step fails, the command prints what
the earlier steps made, with secrets; it stays. After a lost connection, check whether the last step took effect.

${TARGET_NOTE}
`;

export function addOnboardCommand(program: Command): void {
  const command = addTargetOptions(program.command('onboard'))
    .description('Set up an integration with key, application and subscription')
    .argument('<name>', 'name of the integration, and of its application')
    .requiredOption('--instance <instance>', 'id of the instance to connect it to')
    .option(
      '--key-expires <when>',
      'when the key ends: a time, or a duration such as 90d; never unless given',
      timeAhead,
    )
    .option('--redirect-uri <uri>', 'where people of that instance return; may be repeated', collected)
    .option('--public', 'register a public application, which has no secret')
    .option('--webhook-url <url>', 'where the service posts the events of this connection')
    .option('--events <types>', 'types, user.* or *, with commas between; all unless given', commaSeparated)
    .option('--json', 'as JSON, for scripts')
    .addHelpText(
      'after',
      NOTES +
        examples(
          'onboard "Brightledger" --instance ins_… --key-expires 365d',
          'onboard "Brightledger" --instance ins_… --redirect-uri https://app.example.com/callback --webhook-url https://hooks.example.com/events',
        ),
    );
  command.action(async () => {
    const [{ run }, { onboard }] = await Promise.all([
      import('./session.js'),
      import('./onboard-actions.js'),
    ]);
    await run(onboard, command.processedArgs as string[], command.opts<OnboardOptions>());
  });
}
