import { type Command, Option } from 'commander';
import { count } from '../../option-parsers.js';
import { addVerb, asGroup } from '../group.js';

/** `integration worker` alone runs the role of that name; its verbs are about people who work for clients. */
export function addWorkerCommands(role: Command): void {
  const group = asGroup(
    role,
    'worker list --client cli_… --unit oun_…',
    'worker list --email ada@example.com',
    'worker offboard wrk_…',
  );
  const load = () => import('./worker-actions.js');
  addVerb(group, load, 'list', {
    about: 'List the workers of a client, or the active ones of the person with an address',
    example: '--client cli_…',
  })
    .option('--client <client>', 'only those of this client')
    .addOption(
      new Option('--email <address>', 'only those of the person who signs in with this address').conflicts([
        'status',
        'unit',
        'location',
      ]),
    )
    .addOption(
      new Option('--status <status>', 'those who work there, or those who did; active unless given').choices([
        'active',
        'offboarded',
      ]),
    )
    .option('--unit <unit>', 'only those assigned to this unit')
    .option('--location <location>', 'only those at this organization location')
    .option('--limit <count>', 'how many at most', count, 50);
  addVerb(group, load, 'show', { about: 'Show one worker', example: 'wrk_…' }).argument('<worker>', 'its id');
  addVerb(group, load, 'offboard', {
    about: 'End the work of a worker for the client, with a platform token',
    example: 'wrk_…',
    demoToken: 'platformToken',
  })
    .argument('<worker>', 'its id')
    .option('--expected-version <version>', 'refuse if it was changed since')
    .option('--yes', 'do not ask');
}
