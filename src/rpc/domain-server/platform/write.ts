import {
  PlatformServiceService as methods,
  type PlatformServiceService,
} from '../../../../generated/proto/integration/platform/v1/platform.js';
import type { Clock } from '../../../domain/clock.js';
import type { PasswordHasher } from '../../../domain/credentials/passwords.js';
import type { Actor } from '../../../domain/operator/audit.js';
import { Trail } from '../../../domain/platform/trail.js';
import type { Changes, PlatformUnitOfWork } from '../../../domain/platform/unit-of-work.js';
import type { Repeatable } from '../../../domain/unit-of-work.js';
import { invalidField } from '../../../errors/service-error.js';
import { actorOf } from '../../call-audit.js';
import type { AnyMethod, MethodOf, RequestOf, Sent } from '../../definitions.js';
import type { CallContext, Handlers } from '../../handlers.js';
import { handlersOf, type Writes } from '../writes.js';
import { actionOf, subjectOf } from './actions.js';

const MAX_KEY_LENGTH = 255;

export interface PlatformDependencies extends HandlerDependencies {
  unitOfWork: PlatformUnitOfWork;
}

/** Without a unit of work: handlers get that of their call, which reaches no further than its token. */
export interface HandlerDependencies {
  clock: Clock;
  passwords: PasswordHasher;
  /** The public address of the sign-on server, for mailed links. */
  signOnUrl: string;
  /** Keyed with a key outside the database: a plain hash of a request with a password could be guessed. */
  hashRequest(bytes: Uint8Array): Buffer;
}

export type PlatformCall = [unitOfWork: PlatformUnitOfWork, context: CallContext];
export type PlatformHandlers = Handlers<PlatformServiceService, PlatformCall>;

/** Methods whose calls can be repeated under one idempotency key. */
type Repeatables = {
  [Name in keyof PlatformServiceService as 'idempotencyKey' extends keyof RequestOf<
    PlatformServiceService[Name]
  >
    ? Name
    : never]: PlatformServiceService[Name];
};

/** The handlers that only write. */
export function writing(
  { hashRequest }: HandlerDependencies,
  writes: Writes<Repeatables, Changes>,
): PlatformHandlers {
  return handlersOf<PlatformServiceService, Changes, PlatformCall>(
    writes,
    (name, work, request, unitOfWork, context) =>
      write({ unitOfWork, hashRequest }, methods[name] as AnyMethod, request, context, work),
  );
}

/**
 * Runs a write as one unit of work with its audit record, and replays the answer of a repeated call. Writes
 * without changes, and repeated calls, leave no record.
 */
export function write<Request extends { idempotencyKey?: string }, Response extends object>(
  { unitOfWork, hashRequest }: Pick<PlatformDependencies, 'unitOfWork' | 'hashRequest'>,
  method: MethodOf<Request, Response>,
  request: Request,
  context: CallContext,
  work: (changes: Changes) => Promise<Sent<Response> & object>,
): Promise<Sent<Response> & object> {
  const actor = actorOf(context);
  const audited = (changes: Changes) => auditedWork(method.path, actor, request, changes, work);
  const key = request.idempotencyKey;
  if (key === undefined) {
    return unitOfWork.run(audited);
  }
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    const message = `must have between 1 and ${MAX_KEY_LENGTH} characters`;
    throw invalidField('The idempotency key cannot be used.', 'idempotency_key', message);
  }
  const bytes = method.requestSerialize({ ...request, idempotencyKey: undefined });
  const repeatable: Repeatable<Sent<Response> & object> = {
    ownerId: context.identity.ownerId ?? actor.id,
    method: method.path,
    key,
    requestHash: hashRequest(bytes).toString('base64url'),
    encode: (answer) => method.responseSerialize(answer as Response),
    decode: (answer) => method.responseDeserialize(Buffer.from(answer)) as Sent<Response> & object,
  };
  return unitOfWork.run(audited, { repeatable });
}

/** Runs the work and records its changes in the same transaction, unless the work audited them itself. */
export async function auditedWork<Response extends object>(
  path: string,
  actor: Actor,
  request: object,
  changes: Changes,
  work: (changes: Changes) => Promise<Response>,
): Promise<Response> {
  const trail = new Trail();
  const answer = await work(trail.over(changes));
  if (trail.isUntold) {
    const [type, kind] = actionOf(path);
    const subject = subjectOf(kind, request, answer);
    await changes.audit(actor, { type, subject, attributes: trail.attributes(subject) });
  }
  return answer;
}
