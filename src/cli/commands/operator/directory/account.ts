import type { Command } from 'commander';
import { count } from '../../option-parsers.js';
import { addGroup, addVerb } from '../group.js';

export function addAccountCommands(program: Command): void {
  const group = addGroup(
    program,
    'account',
    'Accounts: the people behind users and workers, with what they sign in with',
    'account list --email ada@',
    'account show ada@example.com',
    'account disable acc_…',
  );
  const load = () => import('./account-actions.js');
  addVerb(group, load, 'list', {
    about: 'List accounts by their addresses, of which the beginning is enough',
    example: '--email ada@',
  })
    .option('--email <beginning>', 'only those whose address begins like this, in any case')
    .option('--limit <count>', 'how many at most', count, 50);
  addVerb(group, load, 'show', {
    about: 'Show a person with everything that they are, and where',
    example: 'ada@example.com',
  }).argument('<account>', 'its id, or the address that the person signs in with');
  addVerb(group, load, 'disable', {
    about: 'Keep a person from signing in anywhere, and end their sessions, with a platform token',
    example: 'acc_…',
    demoToken: 'platformToken',
  }).argument('<account>', 'its id');
  addVerb(group, load, 'enable', {
    about: 'Let a person sign in again, with a platform token',
    example: 'acc_…',
    demoToken: 'platformToken',
  }).argument('<account>', 'its id');
}
