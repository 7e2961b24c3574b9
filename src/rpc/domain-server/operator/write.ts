import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import type { Clock } from '../../../domain/clock.js';
import type { AuditMac } from '../../../domain/operator/audit-chain.js';
import type { OperatorChanges, OperatorUnitOfWork } from '../../../domain/operator/unit-of-work.js';
import type { KeyRotation } from '../../../domain/sign-on/keys/key-rotation.js';
import type { Handlers } from '../../handlers.js';
import { handlersOf, type Writes, write } from '../writes.js';

export interface OperatorDependencies {
  unitOfWork: OperatorUnitOfWork;
  environment: 'live' | 'demo';
  clock: Clock;
  signingKeys: KeyRotation;
  auditMac: AuditMac;
  encryptionKeys: {
    /** Makes this node follow a change of the keys now, and seal the rest anew. */
    lookSoon(): void;
  };
}

/** The handlers that only write. */
export function writing(
  operator: OperatorDependencies,
  writes: Writes<OperatorServiceService, OperatorChanges>,
): Handlers<OperatorServiceService> {
  return handlersOf(writes, (_name, work, _request, context) => write(operator, context, work));
}
