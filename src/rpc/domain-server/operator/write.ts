import type { Clock } from '../../../domain/clock.js';
import type { AuditMac } from '../../../domain/operator/audit-chain.js';
import type { OperatorChanges, OperatorUnitOfWork } from '../../../domain/operator/unit-of-work.js';
import type { KeyRotation } from '../../../domain/sign-on/keys/key-rotation.js';
import { inNameOf } from '../../../domain/unit-of-work.js';
import { actorOf } from '../../call-audit.js';
import type { CallContext } from '../../handlers.js';

export interface OperatorDependencies {
  unitOfWork: OperatorUnitOfWork;
  environment: 'live' | 'demo';
  clock: Clock;
  signingKeys: KeyRotation;
  /** Makes the hashes of the audit log. */
  auditMac: AuditMac;
  encryptionKeys: {
    /** Makes this node follow a change of the keys now, and seal the rest anew. */
    lookSoon(): void;
  };
}

/** The unit of work, with the token as its actor. */
export function attributed({ unitOfWork }: OperatorDependencies, context: CallContext) {
  return inNameOf(actorOf(context), unitOfWork, { signal: context.signal });
}

export function write<T>(
  operator: OperatorDependencies,
  context: CallContext,
  work: (changes: OperatorChanges) => Promise<T>,
): Promise<T> {
  return attributed(operator, context).run(work);
}
