import { type Command, Option } from 'commander';
import { count, seconds, timeAhead } from '../../option-parsers.js';
import { addGroup, addVerb } from '../group.js';

const EXPIRY = 'when it ends: a time, or a duration such as 90d';
const SUCCESSOR_EXPIRY =
  'when the successor ends: a time, or a duration such as 90d; by default it lasts as long as the present key was to last';

export function addKeyCommands(program: Command): void {
  const group = addGroup(
    program,
    'key',
    'API keys of integrations',
    'key create itg_… --label "Nightly export" --expires 90d',
    'key rotate key_… --overlap 24h',
    'key revoke key_…',
  );
  const load = () => import('./key-actions.js');
  addVerb(group, load, 'create', {
    about: 'Issue an API key, shown once',
    example: 'itg_… --label "Nightly export" --expires 90d',
  })
    .argument('<integration>', 'id of the integration')
    .requiredOption('--label <text>', 'what it is for')
    .option('--expires <when>', EXPIRY, timeAhead);
  addVerb(group, load, 'list', { about: 'List API keys, newest first', example: 'itg_… --status active' })
    .argument('[integration]', 'only those of this integration')
    .addOption(statusOption())
    .option('--limit <count>', 'how many at most', count);
  addVerb(group, load, 'show', { about: 'Show what is known of a key', example: 'key_…' }).argument(
    '<key>',
    'its id',
  );
  addVerb(group, load, 'update', {
    about: 'Change the label or the end of a key',
    example: 'key_… --expires 2027-01-31',
  })
    .argument('<key>', 'its id')
    .option('--label <text>', 'what it is for')
    .addOption(new Option('--expires <when>', EXPIRY).argParser(timeAhead).conflicts('neverExpires'))
    .option('--never-expires', 'let it not end by itself')
    .option('--expected-version <version>', 'refuse if it was changed since');
  addVerb(group, load, 'rotate', {
    about: 'Issue a successor, and let the present key end after an overlap',
    example: 'key_… --overlap 24h',
  })
    .argument('<key>', 'its id')
    .option(
      '--overlap <duration>',
      'how long both work; 24h unless given, 0 ends the present one at once',
      seconds,
    )
    .addOption(
      new Option('--expires <when>', SUCCESSOR_EXPIRY).argParser(timeAhead).conflicts('neverExpires'),
    )
    .option('--never-expires', 'the successor never expires')
    .option('--yes', 'do not ask for confirmation when --overlap is 0');
  addVerb(group, load, 'revoke', { about: 'End a key at once', example: 'key_… --yes' })
    .argument('<key>', 'its id')
    .option('--yes', 'do not ask');
}

export function statusOption(): Option {
  return new Option('--status <status>', 'only those that stand so').choices([
    'active',
    'expired',
    'revoked',
  ]);
}
