import type { Command } from 'commander';
import { commaSeparated, count, timeBack } from '../../option-parsers.js';
import { addGroup, addVerb } from '../group.js';

const TYPES = 'only these types, such as user.updated,worker.*';

export function addEventCommands(program: Command): void {
  const group = addGroup(
    program,
    'event',
    'Events: what happened, as subscriptions are told of it',
    'event list --types "user.*" --since 1d',
    'event show evt_… --instance-integration iin_…',
    'event replay --subscription whs_… --since 2d --until 1d',
  );
  addReadingVerbs(group);
  addVerb(group, () => import('./event-replay.js'), 'replay', {
    about: 'Send the events of a range to one subscription again, but for those it acknowledged',
    example: '--subscription whs_… --since 2026-11-01T08:00:00Z --until 2026-11-01T12:00:00Z',
  })
    .requiredOption('--subscription <subscription>', 'which one; it must be active')
    .requiredOption('--since <when>', 'from this time on: a time, or a duration such as 6h ago', timeBack)
    .option('--until <when>', 'before this time; until now unless given', timeBack)
    .option('--types <types>', TYPES, commaSeparated)
    .option('--include-delivered', 'also those that it acknowledged')
    .option('--after <event>', 'go on after this event, as a replay that was cut off says');
}

function addReadingVerbs(group: Command): void {
  const load = () => import('./event-actions.js');
  addVerb(group, load, 'list', { about: 'List events, newest first', example: '--types "user.*" --since 1d' })
    .option('--types <types>', TYPES, commaSeparated)
    .option('--instance <instance>', 'only those on this instance')
    .option('--client <client>', 'only those at this client')
    .option('--entity <id>', 'only those about this user, worker, unit, …')
    .option('--since <when>', 'from this time on: a time, or a duration such as 7d ago', timeBack)
    .option('--until <when>', 'before this time', timeBack)
    .option('--limit <count>', 'how many at most', count, 50);
  addVerb(group, load, 'show', {
    about: 'Show one event with its body',
    example: 'evt_… --instance-integration iin_…',
  })
    .argument('<event>', 'its id')
    .option('--instance-integration <connection>', 'with the links that this one receives');
}
