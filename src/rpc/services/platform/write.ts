import type { Clock } from '../../../domain/clock.js';
import type { PasswordHasher } from '../../../domain/credentials/passwords.js';
import type { Actor } from '../../../domain/operator/audit.js';
import { Trail } from '../../../domain/platform/trail.js';
import type { Changes, UnitOfWork } from '../../../domain/platform/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { MethodOf } from '../../definitions.js';
import type { CallContext } from '../../handlers.js';
import { actorOf } from '../actor.js';
import { actionOf, subjectOf } from './actions.js';

const MAX_KEY_LENGTH = 255;

export interface PlatformDependencies {
  unitOfWork: UnitOfWork;
  clock: Clock;
  passwords: PasswordHasher;
  /** The public address of the sign-on server, where mailed links lead. */
  signOnUrl: string;
  /** Keyed with what stands outside the database: some requests hold a password, and a plain hash of these could be tried against guesses. */
  hashRequest(bytes: Uint8Array): Buffer;
}

/**
 * Runs a write of the back office as one unit of work, with its record in the audit log, and answers a repeated call as it answered the first. A write
 * that changed nothing, and a call that was repeated, leave no record.
 */
export function write<Request extends { idempotencyKey?: string }, Response extends object>(
  { unitOfWork, hashRequest }: Pick<PlatformDependencies, 'unitOfWork' | 'hashRequest'>,
  method: MethodOf<Request, Response>,
  request: Request,
  context: CallContext,
  work: (changes: Changes) => Promise<Response>,
): Promise<Response> {
  const actor = actorOf(context);
  const recorded = (changes: Changes) => auditedWork(method.path, actor, request, changes, work);
  const key = request.idempotencyKey;
  if (key === undefined) {
    return unitOfWork.run(recorded);
  }
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    const message = `must have between 1 and ${MAX_KEY_LENGTH} characters`;
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The idempotency key cannot be used.', {
      fieldViolations: [{ path: 'idempotency_key', message }],
    });
  }
  const bytes = method.requestSerialize({ ...request, idempotencyKey: undefined });
  return unitOfWork.run(recorded, {
    ownerId: context.ownerId ?? actor.id,
    method: method.path,
    key,
    requestHash: hashRequest(bytes).toString('base64url'),
    encode: method.responseSerialize,
    decode: (answer) => method.responseDeserialize(Buffer.from(answer)),
  });
}

/** The work, watched for what it changes, and the record of that in the same transaction; unless the work has recorded it in words of its own. */
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
