import type { Clock } from '../../../domain/clock.js';
import type { AuditMac } from '../../../domain/operator/audit-chain.js';
import type { OperatorChanges, OperatorUnitOfWork } from '../../../domain/operator/unit-of-work.js';
import type { KeyRotation } from '../../../domain/sign-on/key-rotation.js';
import type { CallContext } from '../../handlers.js';
import { actorOf } from '../actor.js';

export interface OperatorDependencies {
  unitOfWork: OperatorUnitOfWork;
  environment: 'live' | 'demo';
  clock: Clock;
  signingKeys: KeyRotation;
  /** Makes the hashes of the audit log. */
  auditMac: AuditMac;
  encryptionKeys: {
    /** Lets this node follow a change of the keys now, and seal anew what is left. */
    lookSoon(): void;
  };
}

/** Runs a write as one unit of work, in the name of whoever holds the token of the call. */
export function write<T>(
  { unitOfWork }: OperatorDependencies,
  context: CallContext,
  work: (changes: OperatorChanges) => Promise<T>,
): Promise<T> {
  return unitOfWork.run(actorOf(context), work, { signal: context.signal });
}
