import type { EventsByType, EventType } from '../../../generated/asyncapi/events.js';
import type { ClientId, InstanceId } from '../../../generated/ids.js';
import type { CredentialRows } from '../credentials/end-access.js';
import type { Actor, AuditOutcome, RecordedAction } from '../operator/audit.js';
import type { AccountRows } from './accounts.js';
import type { ClientRows } from './clients.js';
import type { InstanceRows } from './instances.js';
import type { JobTitleRows } from './job-titles.js';
import type { LocationRows } from './locations.js';
import type { RoleRows } from './roles.js';
import type { UnitTypeRows } from './unit-types.js';
import type { UnitRows } from './units.js';
import type { UserRows } from './users.js';
import type { WorkerRows } from './workers.js';

/** What an event is told about, until each receiver gets its own copy. */
export interface RecordedEvent<T extends EventType> {
  type: T;
  instanceId: InstanceId;
  clientId: ClientId;
  entity: EventsByType[T]['entity'];
  /** A snapshot; `links.self` names the instance integration as `{instanceIntegrationId}`. */
  data: EventsByType[T]['data'];
}

/** Everything that the back office may look at. */
export interface PlatformRows extends CredentialRows {
  readonly instances: InstanceRows;
  readonly clients: ClientRows;
  readonly accounts: AccountRows;
  readonly roles: RoleRows;
  readonly users: UserRows;
  readonly unitTypes: UnitTypeRows;
  readonly units: UnitRows;
  readonly locations: LocationRows;
  readonly jobTitles: JobTitleRows;
  readonly workers: WorkerRows;
}

/** Everything that one write may touch, inside its one transaction. */
export interface Changes extends PlatformRows {
  /** The time of the write: its rows and events all carry it. */
  readonly now: number;
  /** The one instance that the caller reaches; undefined for all. */
  readonly instanceId?: InstanceId;
  /**
   * Waits until no other write is about the subject (an instance, a client or an account), so that what is read after it stays true until the
   * commit. Writes that lock several do so in the order account, instance, client, and those of one kind in the order of their ids.
   */
  lock(...subjectIds: string[]): Promise<void>;
  /** Gives the subject's data a new version: whoever holds an answer about it must read again. */
  touch(...subjectIds: string[]): Promise<void>;
  record<T extends EventType>(event: RecordedEvent<T>): Promise<void>;
  /** For the few changes that somebody may have to answer for; without an outcome it succeeded. */
  audit(actor: Actor, action: RecordedAction & { outcome?: AuditOutcome }): Promise<void>;
}

/** A call that says the same when it is repeated. */
export interface Repeatable<T> {
  /** Whose key it is, a token with its successors: that of another is another key. */
  ownerId: string;
  /** Whether answers from before keys had owners, which may be about any instance, are left aside. */
  isOwnedOnly?: boolean;
  method: string;
  key: string;
  /** Stands for the request without its key. */
  requestHash: string;
  encode(answer: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

export interface UnitOfWork {
  /** What is committed, without a transaction. */
  readonly rows: PlatformRows;
  /** Whether works of one lane that wait at the same time are done in the order in which they were given, sharing their commits. */
  readonly inOrder: boolean;
  /**
   * One transaction: all of the work or none. With `repeatable`, the first call of a key does the work and every later one gets its answer; the
   * same key with another request is refused. Nothing but the changes may be awaited inside.
   */
  run<T>(
    work: (changes: Changes) => Promise<T>,
    repeatable?: Repeatable<T>,
    origin?: WriteOrigin,
  ): Promise<T>;
}

/** Whose write it is. */
export interface WriteOrigin {
  /** Aborted when the caller has left: a write that has not begun then never does, and one that has is not committed where that can be helped. */
  signal?: AbortSignal;
  /** Writes of one lane keep their order; where they queue, lanes take turns. */
  lane?: string;
}
