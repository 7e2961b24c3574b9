import { type Command, Option } from 'commander';
import type {
  EnableSubscriptionResponse,
  Subscription,
  SubscriptionStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { confirmation } from '../../confirm.js';
import { commaSeparated, eventPatterns, eventType, idOf } from '../../options.js';
import { printableLine } from '../../output/printable.js';
import { asEnum, asTime, asWord } from '../../output/table.js';
import { addGroup, addVerb, EXPECTED_VERSION, LIMIT, overlapOption, YES } from '../group.js';
import type { Action } from '../session.js';
import { CHANGES, columnsOf, type Facts, showing, shownOnce, shownPages, updateMaskOf } from '../showing.js';

const EVENTS = 'what it receives: types, user.* or *, with commas between';
const CLIENTS = 'only events of these clients, with commas between';
const URL_NOTE = 'where events are posted; https on live';

export function addSubscriptionCommands(program: Command): void {
  const group = addGroup(
    program,
    'subscription',
    'Subscriptions: who receives which events, and where',
    'subscription create --instance-integration iin_… --url https://hooks.example.com --events "user.updated,worker.*"',
    'subscription test whs_…',
    'subscription rotate-secret whs_… --overlap 24h',
    'subscription disable whs_…',
  );
  addRegistration(group);
  addLifeVerbs(group);
  addVerb(
    group,
    'test <subscription>',
    async (...given) => (await import('./subscription-test.js')).test(...given),
    {
      about: 'Send a test event and print the outcome; exit code 1 if it was not acknowledged',
      example: 'whs_… --event user.updated',
    },
  )
    .option('--event <type>', 'its type; the first that the subscription receives unless given', eventType)
    .option('--no-wait', 'do not wait for the first attempt');
}

function addRegistration(group: Command): void {
  addVerb(group, 'create', create, {
    about: 'Subscribe an address to events; its signing secret is shown once',
    example: '--instance-integration iin_… --url https://hooks.example.com --events "user.updated,worker.*"',
  })
    .requiredOption('--instance-integration <connection>', 'whose events it receives', idOf('iin'))
    .requiredOption('--url <url>', URL_NOTE)
    .requiredOption('--events <types>', EVENTS, eventPatterns)
    .option('--clients <clients>', `${CLIENTS}; of all unless given`, commaSeparated)
    .option('--description <text>', 'what it is for');
  addVerb(group, 'update <subscription>', update, {
    about: 'Change the events or the address of a subscription',
    example: 'whs_… --events "user.*,worker.onboarded"',
  })
    .option('--url <url>', URL_NOTE)
    .option('--events <types>', EVENTS, eventPatterns)
    .addOption(new Option('--clients <clients>', CLIENTS).argParser(commaSeparated).conflicts('allClients'))
    .option('--all-clients', 'events of all clients')
    .option('--description <text>', 'what it is for')
    .option(...EXPECTED_VERSION);
  addVerb(group, 'list', list, {
    about: 'List subscriptions, newest first; last successes are noted once a minute',
    example: '--instance-integration iin_… --status disabled',
  })
    .option('--instance-integration <connection>', 'only those of this instance integration', idOf('iin'))
    .addOption(new Option('--status <status>', 'only those with this status').choices(['active', 'disabled']))
    .option(...LIMIT);
  addVerb(group, 'show <subscription>', show, { about: 'Show one subscription and its backlog' });
}

function addLifeVerbs(group: Command): void {
  addVerb(group, 'disable <subscription>', disable, {
    about: 'Stop sending; pending deliveries are held and can be replayed',
  }).option(...EXPECTED_VERSION);
  addVerb(group, 'enable <subscription>', enable, {
    about: 'Resume sending, and print what was missed and how to replay it',
  }).option(...EXPECTED_VERSION);
  addVerb(group, 'delete <subscription>', remove, {
    about: 'Delete a subscription and cancel its pending and held deliveries',
    example: 'whs_… --yes',
  })
    .option(...YES)
    .option(...EXPECTED_VERSION);
  addVerb(group, 'rotate-secret <subscription>', rotateSecret, {
    about: 'Add a signing secret, shown once, and let the present ones end after an overlap',
    example: 'whs_… --overlap 24h',
  })
    .addOption(overlapOption('all sign', 'ones'))
    .option('--yes', 'do not ask for confirmation when --overlap is 0');
}

const FACTS = {
  Subscription: ({ id }) => id,
  Connection: ({ instanceIntegrationId }) => instanceIntegrationId,
  Address: ({ url }) => url,
  Events: ({ eventTypes }) => eventTypes.join(' '),
  Clients: ({ clientIds }) => (clientIds.length === 0 ? 'all' : clientIds),
  Description: ({ description }) => printableLine(description) || '-',
  Status: statusOf,
  Secrets: ({ secrets }) => secrets.map(({ id, expiresAt }) => `${id} ends ${asTime(expiresAt, 'never')}`),
  'Last success': lastSuccessOf,
  'Failing since': ({ failingSince }) => asTime(failingSince),
} satisfies Facts<Subscription>;

const shown = showing('subscription', { ...FACTS, ...CHANGES });

interface SubscriptionOptions {
  url?: string;
  events?: string[];
  clients?: string[];
  allClients?: boolean;
  description?: string;
}

const create: Action<SubscriptionOptions & { instanceIntegration: string; url: string }> = async (
  { webhooks },
  _,
  { instanceIntegration, url, events = [], clients = [], description = '' },
) => {
  const filter = { instanceIntegrationId: instanceIntegration, eventTypes: events, clientIds: clients };
  const answer = await webhooks.createSubscription({ ...filter, url, description });
  return shown(answer, shownOnce('The signing secret', answer.secret));
};

const list: Action<{ status?: string }> = async (
  { operator, webhooks },
  _,
  { instanceIntegration: instanceIntegrationId, status: word, limit },
) => {
  const status = asEnum<SubscriptionStatus>(word, 'SUBSCRIPTION_STATUS_');
  return shownPages(
    limit,
    'subscriptions',
    (page) => webhooks.listSubscriptions({ instanceIntegrationId, status, ...page }),
    {
      ...columnsOf(FACTS, 'Subscription', 'Connection'),
      status: (subscription) => asWord(subscription.status, 'SUBSCRIPTION_STATUS_'),
      ...columnsOf(FACTS, 'Events', 'Address'),
      'last success': ({ lastSuccessAt }) => asTime(lastSuccessAt, 'never'),
      ...columnsOf(FACTS, 'Failing since'),
    },
    () => instanceIntegrationId && operator.getInstanceIntegration({ instanceIntegrationId }),
  );
};

const show: Action = async ({ webhooks }, [subscriptionId]) => {
  const answer = await webhooks.getSubscription({ subscriptionId });
  const { pendingDeliveries: pending, heldDeliveries: held } = answer;
  const backlog = { Pending: () => String(pending), Held: () => String(held) };
  return showing('subscription', { ...FACTS, ...backlog, ...CHANGES })(answer);
};

const update: Action<SubscriptionOptions> = async (
  { webhooks },
  [subscriptionId],
  { url, events, clients, allClients, description, expectedVersion },
) => {
  const clientIds = allClients ? [] : clients;
  const updateMask = updateMaskOf({ url, eventTypes: events, clientIds, description });
  const lists = { eventTypes: events ?? [], clientIds: clientIds ?? [] };
  const request = { subscriptionId, url, ...lists, description, updateMask, expectedVersion };
  return shown(await webhooks.updateSubscription(request));
};

const enable: Action = async ({ webhooks }, [subscriptionId], { expectedVersion }) => {
  const answer = await webhooks.enableSubscription({ subscriptionId, expectedVersion });
  return shown(answer, missed(subscriptionId, answer));
};

const disable: Action = async ({ webhooks }, [subscriptionId], { expectedVersion }) => {
  const answer = await webhooks.disableSubscription({ subscriptionId, expectedVersion });
  const held = `Pending deliveries that are held from now on: ${answer.heldDeliveries}.`;
  return shown(answer, `${held} What happens meanwhile is held, too, and can be replayed.`);
};

const remove: Action = async ({ webhooks }, [subscriptionId], { yes, expectedVersion }) => {
  const confirm = confirmation({ yes });
  if (!yes) {
    const answer = await webhooks.getSubscription({ subscriptionId });
    const open = `${answer.pendingDeliveries} pending and ${answer.heldDeliveries} held deliveries`;
    await confirm(`Delete the subscription of ${answer.subscription?.url}, and cancel ${open}?`);
  }
  const answer = await webhooks.deleteSubscription({ subscriptionId, expectedVersion });
  const text = `Deleted. Deliveries that were cancelled with it: ${answer.cancelledDeliveries}.`;
  return { json: answer, text };
};

const rotateSecret: Action = async ({ webhooks }, [subscriptionId], { overlap, yes }) => {
  if (overlap === 0) {
    const confirm = confirmation({ yes });
    await confirm(`End every present secret of ${subscriptionId} at once, before the new one is in place?`);
  }
  const answer = await webhooks.rotateSubscriptionSecret({ subscriptionId, overlapSeconds: overlap });
  return shown(answer, shownOnce('The new signing secret', answer.secret));
};

/** Includes the command that replays the held deliveries. */
function missed(subscriptionId: string, { heldDeliveries, heldSince }: EnableSubscriptionResponse): string {
  if (heldDeliveries === 0) {
    return 'It missed nothing.';
  }
  const since = heldSince ? ` --since ${heldSince.toISOString()}` : '';
  return `Deliveries that were held meanwhile: ${heldDeliveries}. They stay held until they are replayed:

  integration event replay --subscription ${subscriptionId}${since}`;
}

const REASONS: Readonly<Record<string, string>> = {
  SUBSCRIPTION_DISABLED_REASON_OPERATOR: 'by an operator',
  SUBSCRIPTION_DISABLED_REASON_GONE: 'its address answered 410 Gone',
  SUBSCRIPTION_DISABLED_REASON_FAILING: 'nothing succeeded for too long',
  SUBSCRIPTION_DISABLED_REASON_UNCONFIGURED: 'its instance integration is not configured',
};

/** The service notes it once a minute. */
function lastSuccessOf({ lastSuccessAt }: Subscription): string {
  return lastSuccessAt ? `${asTime(lastSuccessAt)}, or up to a minute later` : 'never';
}

/** Why it receives nothing, as the command shows it. */
export function disabledBecause({ disabledReason }: Subscription): string {
  return REASONS[disabledReason] ?? asWord(disabledReason, 'SUBSCRIPTION_DISABLED_REASON_');
}

function statusOf(subscription: Subscription): string {
  const word = asWord(subscription.status, 'SUBSCRIPTION_STATUS_');
  return word === 'disabled'
    ? `${word} since ${asTime(subscription.disabledAt)}: ${disabledBecause(subscription)}`
    : word;
}
