import { type Command, Option } from 'commander';
import { commaSeparated, eventPatterns, eventType, idOf } from '../../options.js';
import { addGroup, addVerb, EXPECTED_VERSION, LIMIT, overlapOption, YES } from '../group.js';
import * as actions from './subscription-actions.js';

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
  addVerb(group, 'create', actions.create, {
    about: 'Subscribe an address to events; its signing secret is shown once',
    example: '--instance-integration iin_… --url https://hooks.example.com --events "user.updated,worker.*"',
  })
    .requiredOption('--instance-integration <connection>', 'whose events it receives', idOf('iin'))
    .requiredOption('--url <url>', URL_NOTE)
    .requiredOption('--events <types>', EVENTS, eventPatterns)
    .option('--clients <clients>', `${CLIENTS}; of all unless given`, commaSeparated)
    .option('--description <text>', 'what it is for');
  addVerb(group, 'update <subscription>', actions.update, {
    about: 'Change the events or the address of a subscription',
    example: 'whs_… --events "user.*,worker.onboarded"',
  })
    .option('--url <url>', URL_NOTE)
    .option('--events <types>', EVENTS, eventPatterns)
    .addOption(new Option('--clients <clients>', CLIENTS).argParser(commaSeparated).conflicts('allClients'))
    .option('--all-clients', 'events of all clients')
    .option('--description <text>', 'what it is for')
    .option(...EXPECTED_VERSION);
  addVerb(group, 'list', actions.list, {
    about: 'List subscriptions, newest first; last successes are noted once a minute',
    example: '--instance-integration iin_… --status disabled',
  })
    .option('--instance-integration <connection>', 'only those of this instance integration', idOf('iin'))
    .addOption(new Option('--status <status>', 'only those with this status').choices(['active', 'disabled']))
    .option(...LIMIT);
  addVerb(group, 'show <subscription>', actions.show, { about: 'Show one subscription and its backlog' });
}

function addLifeVerbs(group: Command): void {
  addVerb(group, 'disable <subscription>', actions.disable, {
    about: 'Stop sending; pending deliveries are held and can be replayed',
  }).option(...EXPECTED_VERSION);
  addVerb(group, 'enable <subscription>', actions.enable, {
    about: 'Resume sending, and print what was missed and how to replay it',
  }).option(...EXPECTED_VERSION);
  addVerb(group, 'delete <subscription>', actions.remove, {
    about: 'Delete a subscription and cancel its pending and held deliveries',
    example: 'whs_… --yes',
  })
    .option(...YES)
    .option(...EXPECTED_VERSION);
  addVerb(group, 'rotate-secret <subscription>', actions.rotateSecret, {
    about: 'Add a signing secret, shown once, and let the present ones end after an overlap',
    example: 'whs_… --overlap 24h',
  })
    .addOption(overlapOption('all sign', 'ones'))
    .option('--yes', 'do not ask for confirmation when --overlap is 0');
}
