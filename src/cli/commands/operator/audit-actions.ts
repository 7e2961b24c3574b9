import { AuditOutcome, type AuditParty } from '../../../../generated/proto/integration/operator/v1/audit.js';
import { asTime, asWord } from '../output/table.js';
import { listed, shownList } from './listing.js';
import type { Action } from './session.js';

export interface AuditFilter {
  since?: Date;
  until?: Date;
  type?: readonly string[];
  about?: string;
  limit: number;
}

export const list: Action<AuditFilter> = async (
  { operator, call },
  _,
  { since, until, type = [], about, limit },
) => {
  const filter = { since, until, types: [...type], outcome: AuditOutcome.UNSPECIFIED, partyId: about };
  const found = await listed(limit, 'auditEvents', (page) =>
    operator.listAuditEvents({ ...filter, ...page }, call),
  );
  return shownList(found, ['when', 'what', 'outcome', 'to', 'by', 'from'], (event) => [
    asTime(event.occurredAt),
    event.type,
    asWord(event.outcome, 'AUDIT_OUTCOME_'),
    asParty(event.subject),
    asParty(event.actor),
    event.remoteAddress ?? '-',
  ]);
};

function asParty(party: AuditParty | undefined): string {
  return party?.id ?? '-';
}
