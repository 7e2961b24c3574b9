import {
  type AuditEvent as AuditEventMessage,
  AuditOutcome as OutcomeMessage,
} from '../../../../generated/proto/integration/operator/v1/audit.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { type AuditEvent, type AuditOutcome, validateAuditFilter } from '../../../domain/operator/audit.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { fromEnum } from './messages.js';
import type { OperatorDependencies } from './write.js';

const OUTCOMES: Record<AuditOutcome, OutcomeMessage> = {
  succeeded: OutcomeMessage.SUCCEEDED,
  refused: OutcomeMessage.REFUSED,
};

const fromOutcome = fromEnum(OUTCOMES);

export function auditHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    listAuditEvents: async ({ since, until, types, outcome, partyId, ...listing }) => {
      const filter = {
        since: since?.getTime(),
        until: until?.getTime(),
        types,
        outcome: fromOutcome(outcome),
        partyId,
      };
      validateAuditFilter(filter);
      const { auditEvents } = operator.unitOfWork.rows;
      const { rows, nextPageToken } = await listPage(listing, (page) => auditEvents.page(page, filter));
      return { auditEvents: rows.map(toMessage), nextPageToken };
    },
  };
}

function toMessage(event: AuditEvent): AuditEventMessage {
  return {
    id: event.id,
    occurredAt: new Date(event.createdAt),
    type: event.type,
    outcome: OUTCOMES[event.outcome],
    actor: event.actor,
    subject: event.subject ?? undefined,
    requestId: event.requestId ?? undefined,
    remoteAddress: event.remoteAddress ?? undefined,
    attributes: Object.entries(event.attributes).map(([name, value]) => ({ name, value })),
  };
}
