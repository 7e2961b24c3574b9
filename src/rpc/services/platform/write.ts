import type { PasswordHasher } from '../../../domain/credentials/passwords.js';
import type { Changes, UnitOfWork } from '../../../domain/platform/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { MethodOf } from '../../definitions.js';

const MAX_KEY_LENGTH = 255;

export interface PlatformDependencies {
  unitOfWork: UnitOfWork;
  passwords: PasswordHasher;
  /** The public address of the sign-on server, where mailed links lead. */
  signOnUrl: string;
  /** Keyed with what stands outside the database: some requests hold a password, and a plain hash of these could be tried against guesses. */
  hashRequest(bytes: Uint8Array): Buffer;
}

/** Runs a write of the back office as one unit of work, and answers a repeated call as it answered the first. */
export function write<Request extends { idempotencyKey?: string }, Response>(
  { unitOfWork, hashRequest }: Pick<PlatformDependencies, 'unitOfWork' | 'hashRequest'>,
  method: MethodOf<Request, Response>,
  request: Request,
  work: (changes: Changes) => Promise<Response>,
): Promise<Response> {
  const key = request.idempotencyKey;
  if (key === undefined) {
    return unitOfWork.run(work);
  }
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    const message = `must have between 1 and ${MAX_KEY_LENGTH} characters`;
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The idempotency key cannot be used.', {
      fieldViolations: [{ path: 'idempotency_key', message }],
    });
  }
  const bytes = method.requestSerialize({ ...request, idempotencyKey: undefined });
  return unitOfWork.run(work, {
    method: method.path,
    key,
    requestHash: hashRequest(bytes).toString('base64url'),
    encode: method.responseSerialize,
    decode: (answer) => method.responseDeserialize(Buffer.from(answer)),
  });
}
