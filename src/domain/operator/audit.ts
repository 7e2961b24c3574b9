import type { PageRequest } from '../directory/page.js';
import { Violations } from '../platform/violations.js';
import type { ChainedEvent, ChainPlace } from './audit-chain.js';

export interface AuditParty {
  type: string;
  id: string;
}

/** Who makes a change, and in which call. */
export interface Actor extends AuditParty {
  requestId?: string;
  remoteAddress?: string;
  /** For whom the actor says that it acts: an id of the caller's own. */
  onBehalfOf?: string;
}

/** What a change tells the audit log: ids and plain facts, never a secret. */
export interface RecordedAction {
  type: string;
  subject: AuditParty;
  attributes?: Record<string, string>;
}

export type AuditOutcome = 'succeeded' | 'refused';

/** What is recorded although it changes nothing: a refusal, a read. */
export interface Observation {
  type: string;
  outcome: AuditOutcome;
  actor: Actor;
  subject: AuditParty | null;
  /** Of few different values: observations that agree in all but request and time are counted together. */
  attributes: Record<string, string>;
}

/** Counts it, and returns at once; records of the counts follow. */
export type Observe = (observation: Observation) => void;

/** Who shows a secret that nobody has. */
export const STRANGER: AuditParty = { type: 'stranger', id: 'unknown' };

/** The only way in which observations get into the audit log: all of them in one transaction. */
export interface AuditWriter {
  write(observations: readonly Observation[]): Promise<void>;
}

export interface AuditEvent {
  id: string;
  /** When it happened. */
  createdAt: number;
  type: string;
  outcome: AuditOutcome;
  actor: AuditParty;
  subject: AuditParty | null;
  requestId: string | null;
  remoteAddress: string | null;
  attributes: Record<string, string>;
}

export interface AuditFilter {
  since?: number;
  until?: number;
  /** A trailing `.*` takes all types that begin so; none means all. */
  types: readonly string[];
  outcome?: AuditOutcome;
  partyId?: string;
}

export interface AuditRows {
  /** Newest first. */
  page(page: PageRequest, filter: AuditFilter): Promise<AuditEvent[]>;
  /** Chain by chain, each in its order. */
  chained(page: { after: Place | undefined; limit: number }): Promise<ChainedEvent[]>;
  /** Ids of records without a chain that were made at this time or later. */
  unchained(since: number, limit: number): Promise<string[]>;
  /** The newest record of each chain that got one since then, in the order of chains; of anchors none is told. */
  heads(since: number, page: { after: string; limit: number }): Promise<ChainPlace[]>;
  /** When the newest record of any chain was made, anchors left out, and times that are still to come. */
  newest(now: number): Promise<number | undefined>;
}

type Place = Pick<ChainPlace, 'chain' | 'seq'>;

const TYPE = /^[a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?$/;
const MAX_TYPES = 50;

export function validateAuditFilter({ since, until, types }: AuditFilter): void {
  const violations = new Violations();
  if (types.length > MAX_TYPES) {
    violations.add('types', `must not be more than ${MAX_TYPES}`);
  }
  types.forEach((type, index) => {
    if (!TYPE.test(type)) {
      violations.add(
        `types[${index}]`,
        'must be a type such as api_key.revoked, or a beginning such as api_key.*',
      );
    }
  });
  if (since !== undefined && until !== undefined && !(since < until)) {
    violations.add('until', 'must be later than since');
  }
  violations.throwIfAny();
}
