import { type Command, Option } from 'commander';
import { count, seconds, timeAhead } from '../../option-parsers.js';
import { addGroup, addVerb } from '../group.js';
import { statusOption } from './key.js';

export function addTokenCommands(program: Command): void {
  const group = addGroup(
    program,
    'token',
    'Service tokens, each with one right to call gRPC',
    'token create --role platform --label "Back office"',
    'token list --status active',
    'token rotate tok_… --overlap 24h',
    'token revoke tok_…',
  );
  const load = () => import('./token-actions.js');
  addVerb(group, load, 'create', {
    about: 'Issue a service token, shown once',
    example: '--role platform --label "Back office"',
  })
    .addOption(
      new Option('--role <role>', 'what its holder may do')
        .choices(['operator', 'platform', 'support', 'auditor', 'key-custodian'])
        .makeOptionMandatory(),
    )
    .requiredOption('--label <text>', 'what it is for')
    .option('--instance <instance>', 'the one instance that a platform token reaches; all unless given')
    .option('--expires <when>', 'when it ends: a time, or a duration such as 90d', timeAhead);
  addVerb(group, load, 'list', { about: 'List service tokens, newest first', example: '--status active' })
    .addOption(statusOption())
    .option('--limit <count>', 'how many at most', count);
  addVerb(group, load, 'rotate', {
    about: 'Issue a successor, and let the present token end after an overlap',
    example: 'tok_… --overlap 24h',
  })
    .argument('<service-token>', 'its id')
    .option(
      '--overlap <duration>',
      'how long both work; 24h unless given, 0 ends the present one at once',
      seconds,
    )
    .option(
      '--expires <when>',
      'when the successor ends: a time, or a duration such as 90d; by default it lasts as long as the present token was to last',
      timeAhead,
    )
    .option('--yes', 'do not ask for confirmation when --overlap is 0');
  addVerb(group, load, 'revoke', { about: 'End a service token at once', example: 'tok_… --yes' })
    .argument('<service-token>', 'its id')
    .option('--yes', 'do not ask');
}
