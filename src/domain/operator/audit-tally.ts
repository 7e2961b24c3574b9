import { isIP } from 'node:net';
import { OutcomeUnknown } from '../../errors/service-error.js';
import { networkOf } from '../../identifiers/network-address.js';
import type { Clock } from '../clock.js';
import { type AuditWriter, type Observation, type Observe, STRANGER } from './audit.js';

/** Per interval between flushes, which is a minute. */
export interface TallyLimits {
  /** Different observations with separate counts; all others share one. */
  observations: number;
  /** How many of these may be of unauthenticated callers, who must not displace others. */
  ofStrangers: number;
  /** How many of one type may be of one known party, for the same reason. */
  ofOneParty: number;
  /** Different reads with a count; beyond, each read is recorded. */
  reads: number;
}

const LIMITS: TallyLimits = { observations: 100, ofStrangers: 50, ofOneParty: 10, reads: 10_000 };
/** Of the counts of strangers that one type may use: a flood of passwords must not hide unknown keys. */
const PART_OF_ONE_TYPE = 1 / 2;
const MOST_CHARACTERS = 128;

/** The record of the overflow, by type. */
export const REST_TYPE = 'audit.rest';

interface Count {
  observation: Observation;
  times: number;
  firstAt: number;
  lastAt: number;
}

/**
 * Bounds the records of acts that change nothing: equal ones are counted, one record per count and flush. No
 * text of an unauthenticated caller is stored. A killed process loses the counts since its last flush.
 */
export class AuditTally {
  /** By content. */
  #counts = new Map<string, Count>();
  /** The overflow by type, of which there are few. */
  #rest = new Map<string, Count>();
  #recorded = new Map<string, Promise<void>>();

  constructor(
    private readonly writer: AuditWriter,
    private readonly clock: Clock,
    private readonly limits = LIMITS,
  ) {}

  readonly observe: Observe = (observation) => {
    const now = this.clock();
    this.#add({ observation: bounded(observation), times: 1, firstAt: now, lastAt: now });
  };

  /** Resolves when it is recorded; rejects when that failed. Counts repetitions until the next flush. */
  async audit(given: Observation): Promise<void> {
    const observation = bounded(given);
    const key = keyOf(observation);
    const recorded = this.#recorded.get(key);
    if (recorded) {
      await recorded;
      this.observe(observation);
      return;
    }
    const written = this.writer.write([observation]);
    if (this.#recorded.size < this.limits.reads) {
      this.#recorded.set(key, written);
    }
    try {
      await written;
    } catch (error) {
      this.#recorded.delete(key);
      throw error;
    }
  }

  /** Writes the counts and resets them. Keeps counts only if they were certainly not written. */
  async flush(): Promise<void> {
    const [counts, rest] = [[...this.#counts.values()], [...this.#rest.values()]];
    this.#counts = new Map();
    this.#rest = new Map();
    this.#recorded = new Map();
    if (counts.length === 0) {
      return;
    }
    try {
      await this.writer.write([...counts.map(toObservation), ...(rest.length > 0 ? [restOf(rest)] : [])]);
    } catch (error) {
      // A commit that waits for a replica succeeds later: a repetition would store its counts twice.
      if (error instanceof OutcomeUnknown) {
        throw error;
      }
      for (const count of counts) {
        this.#add(count);
      }
      for (const count of rest) {
        this.#addTo(this.#rest, count.observation.type, count);
      }
      throw error;
    }
  }

  #add(count: Count): void {
    const key = keyOf(count.observation);
    if (this.#counts.has(key) || this.#hasRoomFor(count.observation)) {
      this.#addTo(this.#counts, key, count);
    } else {
      this.#addTo(this.#rest, count.observation.type, count);
    }
  }

  #hasRoomFor({ type, actor }: Observation): boolean {
    const { observations, ofStrangers, ofOneParty } = this.limits;
    const counted = [...this.#counts.values()].map(({ observation }) => observation);
    const ofKind = counted.filter((other) => other.actor.type === actor.type);
    const ofType = ofKind.filter((other) => other.type === type);
    const hasRoom =
      actor.type === STRANGER.type
        ? ofKind.length < ofStrangers && ofType.length < ofStrangers * PART_OF_ONE_TYPE
        : ofType.filter((other) => other.actor.id === actor.id).length < ofOneParty;
    // People outnumber tokens and keys by far, and any caller can name a public application.
    const isOfMany = actor.type === 'account' || actor.type === 'application';
    const isOneOfMany = isOfMany && ofKind.length >= ofStrangers * PART_OF_ONE_TYPE;
    return this.#counts.size < observations && hasRoom && !isOneOfMany;
  }

  #addTo(counts: Map<string, Count>, key: string, { times, firstAt, lastAt, observation }: Count): void {
    const known = counts.get(key);
    counts.set(key, {
      observation: known?.observation ?? observation,
      times: (known?.times ?? 0) + times,
      firstAt: Math.min(known?.firstAt ?? firstAt, firstAt),
      lastAt: Math.max(known?.lastAt ?? lastAt, lastAt),
    });
  }
}

/** Everything but the request; addresses by network. */
function keyOf({ type, outcome, actor, subject, attributes }: Observation): string {
  const network = actor.remoteAddress && networkOf(actor.remoteAddress);
  const { type: actorType, id, onBehalfOf } = actor;
  return JSON.stringify([type, outcome, actorType, id, onBehalfOf, network, subject, attributes]);
}

/** Sanitizes what callers influence: short, printable, and an address only if it is one. */
function bounded({ type, outcome, actor, subject, attributes }: Observation): Observation {
  const { remoteAddress = '' } = actor;
  return {
    type,
    outcome,
    actor: {
      ...actor,
      id: short(actor.id),
      remoteAddress: isIP(remoteAddress) > 0 && !remoteAddress.includes('%') ? remoteAddress : undefined,
    },
    subject: subject && { type: subject.type, id: short(subject.id) },
    attributes: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, short(value)])),
  };
}

function short(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');
}

function toObservation({ observation, ...count }: Count): Observation {
  return { ...observation, attributes: { ...observation.attributes, ...told(count) } };
}

function restOf(counts: readonly Count[]): Observation {
  const byType = counts.map(({ observation, times }) => [observation.type, String(times)] as const);
  return {
    type: REST_TYPE,
    outcome: 'refused',
    actor: { type: 'service', id: 'domain' },
    subject: { type: 'audit_log', id: 'rest' },
    attributes: {
      ...Object.fromEntries(byType),
      ...told({
        times: counts.reduce((sum, { times }) => sum + times, 0),
        firstAt: Math.min(...counts.map(({ firstAt }) => firstAt)),
        lastAt: Math.max(...counts.map(({ lastAt }) => lastAt)),
      }),
    },
  };
}

function told({ times, firstAt, lastAt }: Omit<Count, 'observation'>): Record<string, string> {
  return {
    count: String(times),
    first_at: new Date(firstAt).toISOString(),
    last_at: new Date(lastAt).toISOString(),
  };
}
