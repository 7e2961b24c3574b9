import type { Command } from 'commander';
import type { AuditOutcome } from '../../../../generated/proto/integration/operator/v1/audit.js';
import { auditParty, auditTypes, timeBack } from '../options.js';
import { asEnum, asTime, asWord } from '../output/table.js';
import { addGroup, addVerb, LIMIT } from './group.js';
import type { Action } from './session.js';
import { shownPages } from './showing.js';

export function addAuditCommands(program: Command): void {
  const group = addGroup(
    program,
    'audit',
    'The audit log: who changed what',
    'audit list --since 7d',
    'audit list --type "api_key.*" --about key_…',
  );
  addVerb(group, 'list', list, {
    about: 'List what happened, newest first',
    example: '--since 7d --type "api_key.*"',
  })
    .option('--since <when>', 'from this time on: a UTC time, or a duration before now such as 7d', timeBack)
    .option('--until <when>', 'before this time', timeBack)
    .option('--type <type>', 'only this type, or "api_key.*"; may be repeated', auditTypes)
    .option('--about <id>', 'only what this id did, or what was done to it', auditParty)
    .option(...LIMIT, 50);
  addVerb(group, 'export', async (session) => (await import('./audit-chain.js')).exportRecords(session), {
    about: 'Print the records of all chains as JSON lines, each with its hash',
    example: '> audit.jsonl',
    demoToken: 'auditor',
  });
  addVerb(group, 'verify', async (...given) => (await import('./audit-chain.js')).verify(...given), {
    about: 'List records that were changed, removed or inserted outside the service',
    example: '--file audit.jsonl',
    demoToken: 'auditor',
  })
    .option('--file <path>', 'check an export instead of the stored records; - for what is piped in')
    .option('--anchors <path>', 'log of a domain: the export must reach what it names as the newest records')
    .option(
      '--known <path>',
      'investigated findings, as --json printed them: they are shown, and do not count',
    );
}

const list: Action<{ type?: string[]; about?: string }> = async (
  { operator },
  _,
  { since, until, type: types = [], about: partyId, limit },
) => {
  const outcome = asEnum<AuditOutcome>(undefined, 'AUDIT_OUTCOME_');
  const filter = { since, until, types, outcome, partyId };
  return shownPages(limit, 'auditEvents', (page) => operator.listAuditEvents({ ...filter, ...page }), {
    when: (event) => asTime(event.occurredAt),
    what: (event) => event.type,
    outcome: (event) => asWord(event.outcome, 'AUDIT_OUTCOME_'),
    to: (event) => event.subject?.id ?? '-',
    by: (event) => event.actor?.id ?? '-',
    from: (event) => event.remoteAddress ?? '-',
  });
};
