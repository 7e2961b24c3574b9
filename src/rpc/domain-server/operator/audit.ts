import {
  type AuditAttribute,
  AuditFault,
  AuditOutcome,
  type AuditRecord,
} from '../../../../generated/proto/integration/operator/v1/audit.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { LATEST_MS } from '../../../domain/clock.js';
import { type AuditEvent, validateAuditFilter } from '../../../domain/operator/audit.js';
import type { ChainedEvent } from '../../../domain/operator/audit-chain.js';
import {
  judgeRecords,
  type LinkedRecord,
  linkedRecords,
  MISPLACED,
} from '../../../domain/operator/audit-records.js';
import { type AuditFinding, verifyAuditLog } from '../../../domain/operator/audit-verification.js';
import { listPage, pageLimit } from '../../../domain/platform/listing.js';
import { invalidField } from '../../../errors/service-error.js';
import type { Handlers, Sent } from '../../handlers.js';
import { assertKnown, assertNotMore, fromEnum, words } from '../fields.js';
import type { OperatorDependencies } from './write.js';

const OUTCOMES = words(AuditOutcome);

const fromOutcome = fromEnum(OUTCOMES);

export function auditHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    listAuditEvents: async ({ since, until, types, outcome, partyId, ...listing }, call) => {
      assertKnown(outcome, 'outcome');
      const filter = {
        since: since?.getTime(),
        until: until?.getTime(),
        types,
        outcome: fromOutcome(outcome),
        partyId,
      };
      validateAuditFilter(filter);
      const { auditEvents } = operator.unitOfWork.rows;
      const { rows, nextPageToken } = await listPage(listing, (page) =>
        auditEvents.page(page, filter, () => call.isCancelled),
      );
      return { auditEvents: rows.map(toMessage), nextPageToken };
    },
    listAuditRecords: async ({ pageSize, pageToken }) => {
      const { auditEvents } = operator.unitOfWork.rows;
      const { linked, next } = await linkedRecords(auditEvents, placeIn(pageToken), pageLimit(pageSize));
      return {
        records: linked.map(toRecordMessage),
        nextPageToken: typeof next === 'object' ? `${next.chain}/${next.seq}` : (next ?? ''),
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
      assertNotMore(records, MOST_RECORDS, 'records');
      const linked = records.map((message) => ({
        record: fromRecordMessage(message),
        previousHash: message.previousHash,
      }));
      return { findings: judgeRecords(operator.auditMac, linked).map(toFindingMessage) };
    },
  };
}

const MOST_RECORDS = 200;
const MOST_SEQ = 2 ** 32 - 1;

const FAULTS = words(AuditFault);

function toFindingMessage({ fault, fromSeq, toSeq, ...rest }: AuditFinding) {
  return { ...rest, fromSeq: toSeqMessage(fromSeq), toSeq: toSeqMessage(toSeq), fault: FAULTS[fault] };
}

/** Clamps a place that no message can carry, so that the rest of a tampered log stays readable. */
function toSeqMessage(seq: number): number {
  return Number.isFinite(seq) ? Math.min(Math.max(Math.trunc(seq), 0), MOST_SEQ) : 0;
}

/** A chain and a place in it are not secret, so the token need not hide them. */
function placeIn(token: string): { chain: string; seq: number } | typeof MISPLACED | undefined {
  if (token === '') {
    return undefined;
  }
  if (token === MISPLACED) {
    return MISPLACED;
  }
  const [, chain, seq] = /^([A-Za-z0-9_.]{1,64})\/(\d{1,16}(?:\.\d{1,17})?)$/.exec(token) ?? [];
  if (chain === undefined) {
    throw invalidField(
      'The page token cannot be used.',
      'page_token',
      'must be the next_page_token of a page',
    );
  }
  return { chain, seq: Number(seq) };
}

function toRecordMessage({ record, previousHash }: LinkedRecord): Sent<AuditRecord> {
  const { chain, seq, hash } = record;
  return { event: toMessage(record), chain, seq: toSeqMessage(seq), hash, previousHash };
}

/** A missing event counts as changed. */
function fromRecordMessage({ event, chain, seq, hash }: AuditRecord): ChainedEvent {
  return {
    id: event?.id ?? '',
    createdAt: event?.occurredAt?.getTime() ?? 0,
    type: event?.type ?? '',
    outcome: fromOutcome(event?.outcome ?? AuditOutcome.UNSPECIFIED) ?? 'succeeded',
    actor: event?.actor ?? { type: '', id: '' },
    subject: event?.subject ?? null,
    requestId: event?.requestId ?? null,
    remoteAddress: event?.remoteAddress ?? null,
    attributes: attributesIn(event?.attributes ?? []),
    ...{ chain, seq, hash },
  };
}

/** Of a repeated name, which no record has, each value counts: the record is changed. */
function attributesIn(attributes: readonly AuditAttribute[]): Record<string, string> {
  const names = new Set<string>();
  return Object.fromEntries(
    attributes.map(({ name, value }, index) => {
      const isRepeated = names.has(name);
      names.add(name);
      return [isRepeated ? `${name} ${index}` : name, value];
    }),
  );
}

function toMessage(event: AuditEvent) {
  return {
    ...event,
    occurredAt: Math.abs(event.createdAt) <= LATEST_MS ? Math.trunc(event.createdAt) : 0,
    outcome: OUTCOMES[event.outcome] ?? AuditOutcome.UNSPECIFIED,
    attributes: Object.entries(event.attributes).map(([name, value]) => ({ name, value })),
  };
}
