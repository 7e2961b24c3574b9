import {
  type AuditEvent as AuditEventMessage,
  type AuditRecord,
  AuditFault as FaultMessage,
  AuditOutcome as OutcomeMessage,
} from '../../../../generated/proto/integration/operator/v1/audit.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  type AuditEvent,
  type AuditOutcome,
  type AuditRows,
  validateAuditFilter,
} from '../../../domain/operator/audit.js';
import type { ChainedEvent, ChainPlace } from '../../../domain/operator/audit-chain.js';
import {
  type AuditFault,
  type AuditFinding,
  judgeBy,
  verifyAuditLog,
} from '../../../domain/operator/audit-verification.js';
import { listPage, pageLimit } from '../../../domain/platform/listing.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
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
    listAuditRecords: async ({ pageSize, pageToken }) => {
      const limit = pageLimit(pageSize);
      const { auditEvents } = operator.unitOfWork.rows;
      const found = await auditEvents.chained({ after: placeIn(pageToken), limit: limit + 1 });
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return {
        records: await toRecordMessages(auditEvents, rows),
        nextPageToken: found.length > limit && last ? `${last.chain}/${last.seq}` : '',
      };
    },
    verifyAuditLog: async function* (_, { signal }) {
      for await (const { findings, ...progress } of verifyAuditLog(
        operator.unitOfWork.rows.auditEvents,
        operator.auditMac,
        signal,
      )) {
        yield { ...progress, findings: findings.map(toFindingMessage) };
      }
    },
    verifyAuditRecords: async ({ records }) => {
      if (records.length > MOST_RECORDS) {
        const fieldViolations = [{ path: 'records', message: `must not be more than ${MOST_RECORDS}` }];
        throw new ServiceError(ErrorCode.INVALID_REQUEST, 'Too many records at once.', { fieldViolations });
      }
      const judge = judgeBy(operator.auditMac);
      const findings = records.flatMap((message): AuditFinding[] => {
        const record = fromRecordMessage(message);
        const isUnknown = message.seq !== 1 && message.previousHash === '';
        const fault = isUnknown ? undefined : judge(record, message.previousHash);
        const { chain, seq, id } = record;
        return fault ? [{ fault, chain, fromSeq: seq, toSeq: seq, eventId: id }] : [];
      });
      return { findings: findings.map(toFindingMessage) };
    },
  };
}

const MOST_RECORDS = 200;
const MOST_SEQ = 2 ** 32 - 1;
/** The end of the year 9999, beyond which protobuf has no time. */
const LATEST_MS = 253_402_300_799_999;

const FAULTS: Record<AuditFault, FaultMessage> = {
  changed: FaultMessage.CHANGED,
  missing: FaultMessage.MISSING,
  unchained: FaultMessage.UNCHAINED,
  other_key: FaultMessage.OTHER_KEY,
};

function toFindingMessage({ fault, fromSeq, toSeq, ...rest }: AuditFinding) {
  return { ...rest, fromSeq: toSeqMessage(fromSeq), toSeq: toSeqMessage(toSeq), fault: FAULTS[fault] };
}

/** Somebody may have stored a place or a time that no message can carry; the rest of the log is to be read all the same. */
function toSeqMessage(seq: number): number {
  return Number.isFinite(seq) ? Math.min(Math.max(Math.trunc(seq), 0), MOST_SEQ) : 0;
}

function toTimeMessage(time: number): Date {
  return Math.abs(time) <= LATEST_MS ? new Date(time) : new Date(0);
}

/** A chain and a place in it are no secret, so that the token may show them. */
function placeIn(token: string): { chain: string; seq: number } | undefined {
  if (token === '') {
    return undefined;
  }
  const [, chain, seq] = /^([A-Za-z0-9_.]{1,64})\/(\d{1,10})$/.exec(token) ?? [];
  if (chain === undefined) {
    const fieldViolations = [{ path: 'page_token', message: 'must be the next_page_token of a page' }];
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The page token cannot be used.', { fieldViolations });
  }
  return { chain, seq: Number(seq) };
}

async function toRecordMessages(
  auditEvents: AuditRows,
  rows: readonly ChainedEvent[],
): Promise<AuditRecord[]> {
  const records: AuditRecord[] = [];
  let before: ChainPlace | undefined;
  for (const row of rows) {
    const { chain, seq, hash } = row;
    if (seq > 1 && before?.chain !== chain) {
      [before] = await auditEvents.chained({ after: { chain, seq: seq - 2 }, limit: 1 });
    }
    const isBehind = before?.chain === chain && before.seq === seq - 1;
    records.push({
      event: toMessage(row),
      chain,
      seq: toSeqMessage(seq),
      hash,
      previousHash: isBehind ? (before?.hash ?? '') : '',
    });
    before = row;
  }
  return records;
}

/** What is not there at all is not what was recorded, whatever it is. */
function fromRecordMessage({ event, chain, seq, hash }: AuditRecord): ChainedEvent {
  return {
    id: event?.id ?? '',
    createdAt: event?.occurredAt?.getTime() ?? 0,
    type: event?.type ?? '',
    outcome: fromOutcome(event?.outcome ?? OutcomeMessage.UNSPECIFIED) ?? 'succeeded',
    actor: event?.actor ?? { type: '', id: '' },
    subject: event?.subject ?? null,
    requestId: event?.requestId ?? null,
    remoteAddress: event?.remoteAddress ?? null,
    attributes: Object.fromEntries((event?.attributes ?? []).map(({ name, value }) => [name, value])),
    ...{ chain, seq, hash },
  };
}

function toMessage(event: AuditEvent): AuditEventMessage {
  return {
    id: event.id,
    occurredAt: toTimeMessage(event.createdAt),
    type: event.type,
    outcome: OUTCOMES[event.outcome] ?? OutcomeMessage.UNSPECIFIED,
    actor: event.actor,
    subject: event.subject ?? undefined,
    requestId: event.requestId ?? undefined,
    remoteAddress: event.remoteAddress ?? undefined,
    attributes: Object.entries(event.attributes).map(([name, value]) => ({ name, value })),
  };
}
