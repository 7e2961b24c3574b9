import type { Command } from 'commander';
import type { WebhookEvent } from '../../../../../generated/proto/integration/webhooks/v1/events.js';
import { eventPatterns, idOf, timeBack } from '../../options.js';
import { asTime } from '../../output/table.js';
import { addGroup, addVerb, LIMIT } from '../group.js';
import type { Action } from '../session.js';
import { type Facts, showing, shownPages } from '../showing.js';
import { indented, prettyBody } from './delivery-facts.js';

const TYPES = 'only these types, such as user.updated,worker.*';

export function addEventCommands(program: Command): void {
  const group = addGroup(
    program,
    'event',
    'Events: what happened, as sent to subscriptions',
    'event list --types "user.*" --since 1d',
    'event show evt_… --instance-integration iin_…',
    'event replay --subscription whs_… --since 2d --until 1d',
  );
  addVerb(group, 'list', list, { about: 'List events, newest first', example: '--types "user.*" --since 1d' })
    .option('--types <types>', TYPES, eventPatterns)
    .option('--instance <instance>', 'only those on this instance', idOf('ins'))
    .option('--client <client>', 'only those at this client', idOf('cli'))
    .option('--entity <id>', 'only those about this user, worker, unit, …')
    .option('--since <when>', 'from this time on: a UTC time, or a duration before now such as 7d', timeBack)
    .option('--until <when>', 'before this time', timeBack)
    .option(...LIMIT, 50);
  addVerb(group, 'show <event>', show, {
    about: 'Show one event with its body',
    example: 'evt_… --instance-integration iin_…',
  }).option(
    '--instance-integration <connection>',
    'with the links that this connection receives',
    idOf('iin'),
  );
  addVerb(group, 'replay', async (...given) => (await import('./event-replay.js')).replay(...given), {
    about:
      'Send the events of a time range to one subscription, also those from before it was made, except those that it acknowledged',
    example: '--subscription whs_… --since 2026-11-01T08:00:00Z --until 2026-11-01T12:00:00Z',
  })
    .requiredOption('--subscription <subscription>', 'which one; it must be active', idOf('whs'))
    .requiredOption(
      '--since <when>',
      'from this time on: a UTC time, or a duration before now such as 6h',
      timeBack,
    )
    .option('--until <when>', 'before this time; until now unless given', timeBack)
    .option('--types <types>', TYPES, eventPatterns)
    .option('--include-delivered', 'also those that it acknowledged')
    .option('--after <event>', 'continue after this event; an interrupted replay prints its id', idOf('evt'));
}

const list: Action<{ entity?: string }> = async (
  { webhooks },
  _,
  { types = [], instance: instanceId, client: clientId, entity: entityId, since, until, limit },
) => {
  const filter = { types, instanceId, clientId, entityId, since, until };
  return shownPages(limit, 'events', (page) => webhooks.listEvents({ ...filter, ...page }), {
    event: (event) => event.id,
    type: (event) => event.type,
    about: (event) => event.entityId,
    client: (event) => event.clientId,
    occurred: (event) => asTime(event.occurredAt),
  });
};

const shown = showing('event', {
  Event: ({ id }) => id,
  Type: ({ type }) => type,
  About: ({ entityType, entityId }) => `${entityType} ${entityId}`,
  Client: ({ clientId }) => clientId,
  Instance: ({ instanceId }) => instanceId,
  Occurred: ({ occurredAt }) => asTime(occurredAt),
  'Caused by request': ({ requestId }) => requestId ?? '-',
} satisfies Facts<WebhookEvent>);

const show: Action = async ({ webhooks }, [eventId], { instanceIntegration: instanceIntegrationId }) => {
  const answer = await webhooks.getEvent({ eventId, instanceIntegrationId });
  return shown(answer, 'Body', indented(prettyBody(answer.body)));
};
