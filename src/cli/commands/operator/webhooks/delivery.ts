import { type Command, InvalidArgumentError } from 'commander';
import { commaSeparated, count, timeBack } from '../../option-parsers.js';
import { addGroup, addVerb } from '../group.js';

const TYPES = 'only these types of events, such as user.updated,worker.*';
const STATUSES: readonly string[] = ['pending', 'delivered', 'exhausted', 'held', 'cancelled'];

export function addDeliveryCommands(program: Command): void {
  const group = addGroup(
    program,
    'delivery',
    'Deliveries: events on their way to subscriptions',
    'delivery list --subscription whs_… --status exhausted,held --since 2d',
    'delivery show whd_…',
    'delivery retry whd_…',
    'delivery resend whd_…',
    'delivery tail --subscription whs_…',
  );
  addReadingVerbs(group);
  addVerb(group, () => import('./delivery-actions.js'), 'retry', {
    about: 'Make the next attempt of a pending delivery now',
    example: 'whd_…',
  }).argument('<delivery>', 'its id');
  addVerb(group, () => import('./delivery-actions.js'), 'giveUp', {
    name: 'give-up',
    about: 'End a pending delivery without further attempts',
    example: 'whd_…',
  })
    .argument('<delivery>', 'its id')
    .option('--yes', 'do not ask');
  addVerb(group, () => import('./delivery-actions.js'), 'resend', {
    about: 'Send the event of a delivery to its subscription again',
    example: 'whd_…',
  }).argument('<delivery>', 'its id');
  addVerb(group, () => import('./delivery-tail.js'), 'tail', {
    about: 'Watch what happens to deliveries, until Ctrl-C; with --json an object a line',
    example: '--subscription whs_…',
  })
    .option('--subscription <subscription>', 'only those to this subscription')
    .option('--instance-integration <connection>', 'only those of this instance integration')
    .option('--types <types>', TYPES, commaSeparated)
    .option(
      '--since <when>',
      'begin with what happened since: a time, or a duration such as 30m ago',
      timeBack,
    );
}

function addReadingVerbs(group: Command): void {
  const load = () => import('./delivery-actions.js');
  addVerb(group, load, 'list', {
    about: 'List deliveries, newest first',
    example: '--status exhausted,held --since 2d',
  })
    .option('--subscription <subscription>', 'only those to this subscription')
    .option('--instance-integration <connection>', 'only those of this instance integration')
    .option('--event <event>', 'only those of this event')
    .option('--types <types>', TYPES, commaSeparated)
    .option('--status <statuses>', `only those that stand so, of ${STATUSES.join(', ')}`, statuses)
    .option('--since <when>', 'made from this time on: a time, or a duration such as 7d ago', timeBack)
    .option('--until <when>', 'made before this time', timeBack)
    .option('--limit <count>', 'how many at most', count, 50);
  addVerb(group, load, 'show', {
    about: 'Show one delivery with its attempts, what was answered, and its body',
    example: 'whd_…',
  }).argument('<delivery>', 'its id');
}

function statuses(value: string, previous?: readonly string[]): readonly string[] {
  const names = commaSeparated(value, previous);
  if (names.some((name) => !STATUSES.includes(name))) {
    throw new InvalidArgumentError(`It must be of ${STATUSES.join(', ')}, with commas between.`);
  }
  return names;
}
