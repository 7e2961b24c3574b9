import type { Command } from 'commander';
import type { Integration } from '../../../../generated/proto/integration/operator/v1/integrations.js';
import { asTime } from '../output/table.js';
import { addConnectionVerbs, withConnections } from './connections.js';
import { addGroup, addVerb, EXPECTED_VERSION, LIMIT } from './group.js';
import type { Action } from './session.js';
import { showing, shownPages, updateMaskOf } from './showing.js';

export function addIntegrationCommands(program: Command): void {
  const group = addGroup(
    program,
    'integration',
    'Integrations and the instances they are connected to',
    'integration create "Brightledger Accounting"',
    'integration connect itg_… ins_… --configure',
    'integration connections itg_…',
  );
  addVerb(group, 'create', create, {
    about: 'Register an integration',
    example: '"Brightledger Accounting"',
  })
    .argument('<name>', 'its name')
    .option('--contact-email <address>', 'where the platform mails warnings about it');
  addVerb(group, 'list', list, { about: 'List the integrations, newest first', example: '--json' }).option(
    ...LIMIT,
  );
  addVerb(group, 'show <integration>', show, { about: 'Show one integration with its connections' });
  addVerb(group, 'update <integration>', update, {
    about: 'Rename an integration, or change its contact',
    example: 'itg_… --contact-email webhooks@brightledger.example',
  })
    .option('--name <name>', 'its new name')
    .option('--contact-email <address>', 'where the platform mails warnings about it; empty removes it')
    .option(...EXPECTED_VERSION);
  addConnectionVerbs(group);
}

const shown = showing('integration', (integration: Integration) => [
  ['Integration', integration.id],
  ['Name', integration.name],
  ['Contact', integration.contactHint || '-'],
  ['Created', asTime(integration.createdAt)],
  ['Changed', asTime(integration.updatedAt)],
  ['Version', integration.version],
]);

const create: Action<{ contactEmail?: string }> = async ({ operator }, [name], { contactEmail }) =>
  shown(await operator.createIntegration({ name, contactEmail }));

const list: Action = async ({ operator }, _, { limit }) =>
  shownPages(limit, 'integrations', (page) => operator.listIntegrations(page), {
    id: ({ id }) => id,
    name: ({ name }) => name,
    created: ({ createdAt }) => asTime(createdAt),
  });

const show: Action = async (session, [integrationId]) =>
  withConnections(
    session,
    { integrationId },
    shown(await session.operator.getIntegration({ integrationId })),
  );

const update: Action<{ contactEmail?: string }> = async (
  { operator },
  [integrationId],
  { name, contactEmail, expectedVersion },
) => {
  const advice = 'Nothing to change: give --name or --contact-email.';
  const updateMask = updateMaskOf({ name, contactEmail }, advice);
  const fields = { name, contactEmail: contactEmail || undefined };
  return shown(await operator.updateIntegration({ integrationId, ...fields, updateMask, expectedVersion }));
};
