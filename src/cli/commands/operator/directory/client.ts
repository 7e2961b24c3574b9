import type { Command } from 'commander';
import { count } from '../../option-parsers.js';
import { addGroup, addVerb } from '../group.js';

export function addClientCommands(program: Command): void {
  const group = addGroup(
    program,
    'client',
    'Clients: the tenants of an instance',
    'client list --instance ins_…',
    'client show cli_…',
  );
  const load = () => import('./client-actions.js');
  addVerb(group, load, 'list', { about: 'List clients, oldest first', example: '--instance ins_…' })
    .option('--instance <instance>', 'only those of this instance')
    .option('--limit <count>', 'how many at most', count, 50);
  addVerb(group, load, 'show', { about: 'Show one client', example: 'cli_…' }).argument('<client>', 'its id');
}
