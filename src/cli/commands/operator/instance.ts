import type { Command } from 'commander';
import { count } from '../option-parsers.js';
import { addGroup, addVerb } from './group.js';

export function addInstanceCommands(program: Command): void {
  const group = addGroup(
    program,
    'instance',
    'Instances: the deployments of the platform',
    'instance create "Harborlight Payroll"',
    'instance list --json',
  );
  const load = () => import('./instance-actions.js');
  addVerb(group, load, 'create', {
    about: 'Create an instance, with a platform token',
    example: '"Harborlight Payroll"',
    demoToken: 'platformToken',
  }).argument('<name>', 'its name for people');
  addVerb(group, load, 'list', { about: 'List the instances, oldest first', example: '--json' }).option(
    '--limit <count>',
    'how many at most',
    count,
  );
  addVerb(group, load, 'show', {
    about: 'Show one instance with who is connected to it',
    example: 'ins_…',
  }).argument('<instance>', 'its id');
  addVerb(group, load, 'update', {
    about: 'Rename an instance, with a platform token',
    example: 'ins_… --name "Harborlight"',
    demoToken: 'platformToken',
  })
    .argument('<instance>', 'its id')
    .requiredOption('--name <name>', 'its new name')
    .option('--expected-version <version>', 'refuse if it was changed since');
}
