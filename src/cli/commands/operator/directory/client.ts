import type { Command } from 'commander';
import type { Client } from '../../../../../generated/proto/integration/platform/v1/clients.js';
import { idOf } from '../../options.js';
import { printableLine } from '../../output/printable.js';
import { addGroup, addVerb, LIMIT, making } from '../group.js';
import type { Action } from '../session.js';
import { CHANGES, columnsOf, type Facts, showing, shownPages } from '../showing.js';
import { addressLine } from './people.js';

export function addClientCommands(program: Command): void {
  const group = addGroup(
    program,
    'client',
    'Clients: the tenants of an instance',
    'client list --instance ins_…',
    'client show cli_…',
  );
  const request = '{"instanceId": "ins_…", "name": "Northwind"}';
  group.addHelpText('after', making('CreateClient', request));
  addVerb(group, 'list', list, { about: 'List clients, oldest first', example: '--instance ins_…' })
    .option('--instance <instance>', 'only those of this instance', idOf('ins'))
    .option(...LIMIT, 50);
  addVerb(group, 'show <client>', show, { about: 'Show one client' });
}

const list: Action = async ({ platform }, _, { instance: instanceId, limit }) =>
  shownPages(
    limit,
    'clients',
    (page) => platform.listClients({ instanceId, ...page }),
    columnsOf(FACTS, 'Client', 'Name', 'Instance', 'Created'),
    () => instanceId && platform.getInstance({ instanceId }),
  );

const FACTS = {
  Client: ({ id }) => id,
  Name: ({ name }) => printableLine(name),
  Instance: ({ instanceId }) => instanceId,
  Address: ({ address }) => addressLine(address),
  ...CHANGES,
} satisfies Facts<Client>;

const shown = showing('client', FACTS);

const show: Action = async ({ platform }, [clientId]) => shown(await platform.getClient({ clientId }));
