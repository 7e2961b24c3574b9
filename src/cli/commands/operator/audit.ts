import type { Command } from 'commander';
import { collected, count, timeBack } from '../option-parsers.js';
import { addGroup, addVerb } from './group.js';

export function addAuditCommands(program: Command): void {
  const group = addGroup(
    program,
    'audit',
    'The audit log: who changed what',
    'audit list --since 7d',
    'audit list --type "api_key.*" --about itg_…',
  );
  addVerb(group, () => import('./audit-actions.js'), 'list', {
    about: 'List what happened, newest first',
    example: '--since 7d --type "api_key.*"',
  })
    .option('--since <when>', 'from this time on: a time, or a duration such as 7d ago', timeBack)
    .option('--until <when>', 'before this time', timeBack)
    .option('--type <type>', 'only this type, or "api_key.*"; may be repeated', collected)
    .option('--about <id>', 'only what this id did, or what was done to it')
    .option('--limit <count>', 'how many at most', count, 50);
  addVerb(group, () => import('./audit-chain-actions.js'), 'export', {
    about: 'Print the whole log as JSON lines, each record with its hash',
    example: '> audit.jsonl',
    demoToken: 'auditorToken',
  });
  addVerb(group, () => import('./audit-chain-actions.js'), 'verify', {
    about: 'Tell which records were changed, removed or put in from outside',
    example: '--file audit.jsonl',
    demoToken: 'auditorToken',
  }).option('--file <path>', 'the records of an export rather than those that are stored');
}
