import type { Command } from 'commander';
import type { Instance } from '../../../../generated/proto/integration/platform/v1/instances.js';
import { asTime } from '../output/table.js';
import { addGroup, addVerb, EXPECTED_VERSION, LIMIT } from './group.js';
import { withConnections } from './integration.js';
import type { Action } from './session.js';
import { CHANGES, type Facts, showing, shownPages } from './showing.js';

export function addInstanceCommands(program: Command): void {
  const group = addGroup(
    program,
    'instance',
    'Instances: the deployments of the platform',
    'instance create "Harborlight Payroll"',
    'instance list --json',
  );
  addVerb(group, 'create', create, {
    about: 'Create an instance',
    example: '"Harborlight Payroll"',
    demoToken: 'platform',
  }).argument('<name>', 'its name for people');
  addVerb(group, 'list', list, { about: 'List the instances, oldest first', example: '--json' }).option(
    ...LIMIT,
  );
  addVerb(group, 'show <instance>', show, { about: 'Show one instance with who is connected to it' });
  addVerb(group, 'update <instance>', update, {
    about: 'Rename an instance',
    example: 'ins_… --name "Harborlight"',
    demoToken: 'platform',
  })
    .requiredOption('--name <name>', 'its new name')
    .option(...EXPECTED_VERSION);
}

const shown = showing('instance', {
  Instance: ({ id }) => id,
  Name: ({ name }) => name,
  ...CHANGES,
} satisfies Facts<Instance>);

const create: Action = async ({ platform }, [name]) => shown(await platform.createInstance({ name }));

const list: Action = async ({ platform }, _, { limit }) =>
  shownPages(limit, 'instances', (page) => platform.listInstances(page), {
    id: ({ id }) => id,
    name: ({ name }) => name,
    created: ({ createdAt }) => asTime(createdAt),
  });

const show: Action = async (session, [instanceId]) =>
  withConnections(session, { instanceId }, shown(await session.platform.getInstance({ instanceId })));

const update: Action<{ name: string }> = async ({ platform }, [instanceId], { name, expectedVersion }) =>
  shown(await platform.updateInstance({ instanceId, name, updateMask: ['name'], expectedVersion }));
