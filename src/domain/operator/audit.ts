import type { PageRequest } from '../directory/page.js';
import { Violations } from '../platform/violations.js';
import type { ChainedEvent, ChainPlace } from './audit-chain.js';
import { AUDIT_TYPES, type AuditType } from './audit-types.js';

export interface AuditParty {
  type: string;
  id: string;
}

/** The author of a change, and its call. */
export interface Actor extends AuditParty {
  requestId?: string;
  remoteAddress?: string;
  /** The person or system for which the actor acts, by its own account. */
  onBehalfOf?: string;
}

/** The facts of a change for the audit log: ids and plain values, never a secret. */
export interface AuditedAction {
  type: AuditType;
  subject: AuditParty;
  /** Without one it succeeded. */
  outcome?: AuditOutcome;
  attributes?: Record<string, string>;
}

export type AuditOutcome = 'succeeded' | 'refused';

/** A recorded act that changes nothing: a refusal, a read. */
export interface Observation {
  type: AuditType;
  outcome: AuditOutcome;
  actor: Actor;
  subject: AuditParty | null;
  /** Few different values: observations that differ only in request and time are counted together. */
  attributes: Record<string, string>;
}

/** Counts it and returns at once; records of the counts follow. */
export type Observe = (observation: Observation) => void;

/** The caller with an unknown secret. */
export const STRANGER: AuditParty = { type: 'stranger', id: 'unknown' };

/** The only way to write observations: all of them in one transaction. */
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
  /** A trailing `.*` matches a prefix; an empty list matches all. */
  types: readonly string[];
  outcome?: AuditOutcome;
  partyId?: string;
}

export interface AuditRows {
  /** Newest first. */
  page(page: PageRequest, filter: AuditFilter, isOver?: () => boolean): Promise<AuditEvent[]>;
  /** Chain by chain, in order. */
  chained(page: { after: Place | undefined; limit: number }): Promise<ChainedEvent[]>;
  /** Records of chains at places that no chain has: `chained` cannot sort them and leaves them out. */
  misplaced(limit: number): Promise<ChainedEvent[]>;
  /** Ids of records without a chain that are not older than `since`. */
  unchained(since: number, limit: number): Promise<string[]>;
  /** The last place of each chain, or 0, and the time of its record; in the order of chains. */
  ends(page: { after: string; limit: number }): Promise<(Place & Pick<AuditEvent, 'createdAt'>)[]>;
  growth(behind: Place): Promise<Growth>;
  /** The time of the newest record of any chain, without anchors and future times. */
  newest(now: number): Promise<number | undefined>;
}

type Place = Pick<ChainPlace, 'chain' | 'seq'>;

/** The records of a chain after a place. */
export interface Growth {
  chain: string;
  /** The newest record that is no anchor. */
  newest: ChainPlace | undefined;
  /** Where the next search may begin: up to here, only anchors follow that record, without a gap. */
  end: number;
}

const ALL_TYPES = Object.values(AUDIT_TYPES).flatMap((types) => Object.keys(types));
export const AUDIT_TYPE_MESSAGE =
  'must be a type that the documentation lists, such as api_key.revoked, or a pattern such as api_key.*';

/** Whether it is a type, or the beginning of some with `.*`. */
export function matchesAuditTypes(pattern: string): boolean {
  const beginning = pattern.endsWith('.*') ? pattern.slice(0, -1) : undefined;
  return ALL_TYPES.some((type) => (beginning === undefined ? type === pattern : type.startsWith(beginning)));
}

const MAX_TYPES = 50;

export function validateAuditFilter({ since, until, types }: AuditFilter): void {
  const violations = new Violations();
  violations.items('types', violations.listOfAtMost(MAX_TYPES, 'types', types), (type) =>
    matchesAuditTypes(type) ? undefined : AUDIT_TYPE_MESSAGE,
  );
  violations.span(since, until);
  violations.throwIfAny();
}
