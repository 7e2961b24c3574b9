import { type ErrorCode, existing } from '../errors/service-error.js';
import type { Actor, AuditedAction } from './operator/audit.js';
import type { AuditType } from './operator/audit-types.js';

/** How the rules of an area read and write. */
export interface UnitOfWork<Changes, Rows> {
  /** Committed rows, without a transaction. */
  readonly rows: Rows;
  /** Whether concurrent works of one lane run in the order of their calls and share commits. */
  readonly inOrder: boolean;
  /** One transaction. The work may await nothing but the changes. */
  run<T>(work: (changes: Changes) => Promise<T>, options?: WriteOptions<T>): Promise<T>;
}

/** What most rows have. */
export interface RowsOf<Row> {
  find(id: string): Promise<Row | undefined>;
  insert(row: Row): Promise<void>;
  update(row: Row): Promise<void>;
}

/** Makes the function that finds a row of this kind by its id, or refuses the id. */
export function getterOf<Name extends string>(name: Name, code: ErrorCode, noun: string) {
  return async <Row>(
    rows: { readonly [Key in Name]: { find(id: string): Promise<Row | undefined> } },
    id: string,
  ): Promise<Row> => existing(await rows[name].find(id), code, noun);
}

/** What every write has, in its transaction. */
export interface CommonChanges {
  /** The time of the write, for its rows, events and audit records. */
  readonly now: number;
  /**
   * Waits for other writes about the subject (such as an instance, client or account), so that later reads
   * stay true until the commit. Order of locks: accounts, instances, integrations, clients, each by id.
   */
  lock(...subjectIds: string[]): Promise<void>;
  /** Gives the subject's data a new version, which invalidates cached answers. */
  touch(...subjectIds: string[]): Promise<void>;
  audit(actor: Actor, action: AuditedAction): Promise<void>;
}

/** The call that a write belongs to. */
export interface WriteOrigin {
  /** Aborted when the caller disconnects: the write does not begin, or is rolled back where possible. */
  signal?: AbortSignal;
  /** The request id for the events that it records. */
  requestId?: string;
  /** The span of the call as a W3C `traceparent`, for these events. */
  traceparent?: string;
  /** On SQLite, writes of one lane keep their order, and queued lanes take turns. */
  lane?: string;
  /**
   * The instance to which the token is limited. On PostgreSQL its writes use few connections, and do not wait
   * long while they hold an account.
   */
  limitedTo?: string;
}

interface WriteOptions<T> extends WriteOrigin {
  /** Called when the next write would see the effect: on SQLite before the commit, which may still fail. */
  onDone?: () => void;
  /** Only the first call of a key does the work; the same key with another request is refused. */
  repeatable?: Repeatable<T>;
}

/** A call with an idempotency key: a repetition gets the answer of the first call. */
export interface Repeatable<T> {
  /** The owner of the key: a token and its successors. */
  ownerId: string;
  /** Ignores answers stored before keys had owners, which may be about any instance. */
  isOwnedOnly?: boolean;
  method: string;
  key: string;
  /** Of the request without its key. */
  requestHash: string;
  encode(answer: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

/** For rules that audit their changes. */
export interface Attributed {
  readonly actor: Actor;
}

/** Records an action of the actor. The type begins with the kind of the subject: `api_key.revoked`. */
export function auditChange(
  changes: Pick<CommonChanges, 'audit'> & Attributed,
  type: AuditType,
  id: string,
  attributes?: Record<string, string>,
): Promise<void> {
  const [kind = ''] = type.split('.');
  return changes.audit(changes.actor, { type, subject: { type: kind, id }, attributes });
}

/** The unit of work with an actor for each write. */
export function inNameOf<Changes, Rows>(
  actor: Actor,
  unitOfWork: UnitOfWork<Changes, Rows>,
  origin?: WriteOrigin,
): UnitOfWork<Changes & Attributed, Rows> {
  return {
    ...unitOfWork,
    run: (work, options) =>
      unitOfWork.run((changes) => work({ ...changes, actor }), { ...origin, ...options }),
  };
}

/** Runs the work and its checks, then rolls back. */
export function rehearsalOf<Changes, Rows>(unitOfWork: UnitOfWork<Changes, Rows>): UnitOfWork<Changes, Rows> {
  return {
    ...unitOfWork,
    run: async <T>(work: (changes: Changes) => Promise<T>, options?: WriteOptions<T>): Promise<T> => {
      try {
        return await unitOfWork.run<T>(async (changes) => {
          throw new Undone(await work(changes));
        }, options);
      } catch (error) {
        if (error instanceof Undone) {
          return error.answer as T;
        }
        throw error;
      }
    },
  };
}

/** Thrown to roll the transaction back. */
class Undone extends Error {
  constructor(readonly answer: unknown) {
    super('rehearsed');
  }
}
