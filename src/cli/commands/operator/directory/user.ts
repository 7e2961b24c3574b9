import { type Command, InvalidArgumentError } from 'commander';
import { commaSeparated, count } from '../../option-parsers.js';
import { addGroup, addVerb } from '../group.js';

const STATUSES: readonly string[] = ['active', 'inactive', 'invited', 'deleted'];

export function addUserCommands(program: Command): void {
  const group = addGroup(
    program,
    'user',
    'Users: the people who sign in to the dashboard for a client',
    'user list --email ada@example.com',
    'user list --client cli_… --status invited',
    'user disable usr_…',
  );
  const load = () => import('./user-actions.js');
  addVerb(group, load, 'list', {
    about: 'List the users of a client, or of the person with an address',
    example: '--email ada@example.com',
  })
    .option('--client <client>', 'only those of this client')
    .option('--email <address>', 'only those of the person who signs in with this address')
    .option('--status <statuses>', `only those of ${STATUSES.join(', ')}`, statuses)
    .option('--limit <count>', 'how many at most', count, 50);
  addVerb(group, load, 'show', { about: 'Show one user', example: 'usr_…' }).argument('<user>', 'its id');
  addSwitch('disable', 'Keep an active user from signing in, with a platform token');
  addSwitch('enable', 'Let a disabled user sign in again, with a platform token');

  function addSwitch(verb: 'disable' | 'enable', about: string): void {
    addVerb(group, load, verb, { about, example: 'usr_…', demoToken: 'platformToken' })
      .argument('<user>', 'its id')
      .option('--expected-version <version>', 'refuse if it was changed since');
  }
}

function statuses(value: string, previous?: readonly string[]): readonly string[] {
  const names = commaSeparated(value, previous);
  if (names.some((name) => !STATUSES.includes(name))) {
    throw new InvalidArgumentError(`It must be of ${STATUSES.join(', ')}, with commas between.`);
  }
  return names;
}
