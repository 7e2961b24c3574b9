import type { Command } from 'commander';
import { count } from '../option-parsers.js';
import { addGroup, addVerb } from './group.js';

export function addIntegrationCommands(program: Command): void {
  const group = addGroup(
    program,
    'integration',
    'Integrations and the instances they are connected to',
    'integration create "Brightledger Accounting"',
    'integration connect itg_… ins_… --configure',
    'integration connections itg_…',
  );
  const load = () => import('./integration-actions.js');
  addVerb(group, load, 'create', {
    about: 'Register an integration',
    example: '"Brightledger Accounting"',
  })
    .argument('<name>', 'its name')
    .option('--contact-email <address>', 'where the platform mails warnings about it');
  addVerb(group, load, 'list', { about: 'List the integrations, newest first', example: '--json' }).option(
    '--limit <count>',
    'how many at most',
    count,
  );
  addVerb(group, load, 'show', {
    about: 'Show one integration with its connections',
    example: 'itg_…',
  }).argument('<integration>', 'its id');
  addVerb(group, load, 'update', {
    about: 'Rename an integration, or change its contact',
    example: 'itg_… --contact-email webhooks@brightledger.example',
  })
    .argument('<integration>', 'its id')
    .option('--name <name>', 'its new name')
    .option('--contact-email <address>', 'where the platform mails warnings about it; empty removes it')
    .option('--expected-version <version>', 'refuse if it was changed since');
  addInstanceIntegrationVerbs(group);
}

function addInstanceIntegrationVerbs(group: Command): void {
  const load = () => import('./instance-integration-actions.js');
  addVerb(group, load, 'connect', {
    about: 'Connect an integration to an instance',
    example: 'itg_… ins_… --configure',
  })
    .argument('<integration>', 'id of the integration')
    .argument('<instance>', 'id of the instance')
    .option('--configure', 'set it up at once, so that it answers reads');
  addVerb(group, load, 'connections', { about: 'List connections, newest first', example: 'itg_…' })
    .argument('[integration]', 'only those of this integration')
    .option('--instance <instance>', 'only those of this instance')
    .option('--limit <count>', 'how many at most', count);
  addVerb(group, load, 'configure', {
    about: 'Set a connection up, so that it answers reads',
    example: 'iin_…',
  }).argument('<connection>', 'id of the instance integration');
  addVerb(group, load, 'unconfigure', {
    about: 'Take that back: its clients answer 404',
    example: 'iin_…',
  }).argument('<connection>', 'id of the instance integration');
  addVerb(group, load, 'disconnect', {
    about: 'End a connection and delete its subscriptions',
    example: 'iin_… --yes',
  })
    .argument('<connection>', 'id of the instance integration')
    .option('--yes', 'do not ask');
}
