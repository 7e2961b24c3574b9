import type { Command } from 'commander';
import type {
  Delivery,
  DeliveryStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { confirmation } from '../../confirm.js';
import { commaSeparatedOf, eventPatterns, idOf, timeBack, wholeIdOf } from '../../options.js';
import { asEnum, asTime, asWord } from '../../output/table.js';
import { addGroup, addVerb, LIMIT, YES } from '../group.js';
import type { Action } from '../session.js';
import { shownPages } from '../showing.js';
import { attemptsOf, deliveryFacts, deliveryReport, shownUnderWay } from './delivery-facts.js';

const TYPES = 'only these types of events, such as user.updated,worker.*';
const STATUSES = ['pending', 'delivered', 'exhausted', 'held', 'cancelled'];
const STATUS_NOTE = `only those with one of these statuses: ${STATUSES.join(', ')}`;

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
  addVerb(group, 'list', list, {
    about: 'List deliveries, newest first',
    example: '--status exhausted,held --since 2d',
  })
    .option('--subscription <subscription>', 'only those to this subscription', wholeIdOf('whs'))
    .option(
      '--instance-integration <connection>',
      'only those of this instance integration',
      wholeIdOf('iin'),
    )
    .option('--event <event>', 'only those of this event', wholeIdOf('evt'))
    .option('--types <types>', TYPES, eventPatterns)
    .option('--status <statuses>', STATUS_NOTE, commaSeparatedOf(STATUSES))
    .option(
      '--since <when>',
      'made from this time on: a UTC time, or a duration before now such as 7d',
      timeBack,
    )
    .option('--until <when>', 'made before this time', timeBack)
    .option(...LIMIT, 50);
  addVerb(group, 'show <delivery>', show, {
    about: 'Show one delivery with its attempts, what was answered, and its body',
  });
  addVerb(group, 'retry <delivery>', retry, { about: 'Make the next attempt of a pending delivery now' });
  addVerb(group, 'give-up <delivery>', giveUp, {
    about: 'End a pending delivery without further attempts',
  }).option(...YES);
  addVerb(group, 'resend <delivery>', resend, {
    about: 'Send the event of a delivery to its subscription again',
  });
  addVerb(group, 'tail', async (...given) => (await import('./delivery-tail.js')).tail(...given), {
    about: 'Watch what happens to deliveries, until Ctrl-C; with --json an object a line',
    example: '--subscription whs_…',
  })
    .option('--subscription <subscription>', 'only those to this subscription', idOf('whs'))
    .option('--instance-integration <connection>', 'only those of this instance integration', idOf('iin'))
    .option('--types <types>', TYPES, eventPatterns)
    .option(
      '--since <when>',
      'begin with what happened since: a UTC time, or a duration before now such as 30m',
      timeBack,
    );
}

const list: Action<{ status?: readonly string[] }> = async ({ webhooks }, _, { limit, ...options }) => {
  const filter = {
    subscriptionId: options.subscription,
    instanceIntegrationId: options.instanceIntegration,
    eventId: options.event,
    eventTypes: options.types ?? [],
    statuses: (options.status ?? []).map((name) => asEnum<DeliveryStatus>(name, 'DELIVERY_STATUS_')),
    since: options.since,
    until: options.until,
  };
  return shownPages(limit, 'deliveries', (page) => webhooks.listDeliveries({ ...filter, ...page }), {
    delivery: (delivery) => delivery.id,
    type: (delivery) => delivery.eventType,
    subscription: (delivery) => delivery.subscriptionId,
    status: (delivery) => asWord(delivery.status, 'DELIVERY_STATUS_'),
    attempts: attemptsOf,
    'next attempt': (delivery) => asTime(delivery.nextAttemptAt),
    created: (delivery) => asTime(delivery.createdAt),
  });
};

const show: Action = async ({ webhooks, temporalUiUrl }, [deliveryId]) => {
  const answer = await webhooks.getDelivery({ deliveryId });
  return { json: answer, text: deliveryReport(answer, temporalUiUrl) };
};

const retry: Action = async ({ webhooks }, [deliveryId]) =>
  shownUnderWay(await webhooks.retryDelivery({ deliveryId }), 'The next attempt is due.');

const giveUp: Action = async ({ webhooks }, [deliveryId], options) => {
  const confirm = confirmation(options);
  await confirm(`End ${deliveryId} without further attempts?`);
  const answer = await webhooks.giveUpDelivery({ deliveryId });
  return { json: answer, text: deliveryFacts(answer.delivery as Delivery) };
};

const resend: Action = async ({ webhooks }, [deliveryId]) =>
  shownUnderWay(await webhooks.resendDelivery({ deliveryId }), 'It is on its way.');
