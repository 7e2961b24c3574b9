import { type Command, Option } from 'commander';
import { count, timeAhead } from '../option-parsers.js';
import { addGroup, addVerb } from './group.js';
import { statusOption } from './key.js';

export function addTokenCommands(program: Command): void {
  const group = addGroup(
    program,
    'token',
    'Service tokens, with which operators and the platform call gRPC',
    'token create --role platform --label "Back office"',
    'token list --status active',
    'token revoke tok_…',
  );
  const load = () => import('./token-actions.js');
  addVerb(group, load, 'create', {
    about: 'Issue a service token, shown once',
    example: '--role platform --label "Back office"',
  })
    .addOption(
      new Option('--role <role>', 'whom it lets in').choices(['operator', 'platform']).makeOptionMandatory(),
    )
    .requiredOption('--label <text>', 'what it is for')
    .option('--expires <when>', 'when it ends: a time, or a duration such as 90d', timeAhead);
  addVerb(group, load, 'list', { about: 'List service tokens, newest first', example: '--status active' })
    .addOption(statusOption())
    .option('--limit <count>', 'how many at most', count);
  addVerb(group, load, 'revoke', { about: 'End a service token at once', example: 'tok_… --yes' })
    .argument('<service-token>', 'its id')
    .option('--yes', 'do not ask');
}
