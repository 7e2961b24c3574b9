import { AuditOutcome, type AuditParty } from '../../../../generated/proto/integration/operator/v1/audit.js';
import { asTime, asWord } from '../output/table.js';
import { listed, shownList } from './listing.js';
import type { Session, Shown } from './session.js';

export interface AuditFilter {
  since?: Date;
  until?: Date;
  type?: readonly string[];
  about?: string;
  limit: number;
}

export async function list(
  { operator, call }: Session,
  _: readonly string[],
  { since, until, type = [], about, limit }: AuditFilter,
): Promise<Shown> {
  const filter = { since, until, types: [...type], outcome: AuditOutcome.UNSPECIFIED, partyId: about };
  const found = await listed(limit, async (page) => {
    const { auditEvents, nextPageToken } = await operator.listAuditEvents({ ...filter, ...page }, call);
    return { rows: auditEvents, nextPageToken };
  });
  return shownList(found, ['when', 'what', 'outcome', 'to', 'by', 'from'], (event) => [
    asTime(event.occurredAt),
    event.type,
    asWord(event.outcome, 'AUDIT_OUTCOME_'),
    asParty(event.subject),
    asParty(event.actor),
    event.remoteAddress ?? '-',
  ]);
}

function asParty(party: AuditParty | undefined): string {
  return party?.id ?? '-';
}
