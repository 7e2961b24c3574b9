import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  type SigningKey as SigningKeyMessage,
  SigningKeyStatus as StatusMessage,
} from '../../../../generated/proto/integration/operator/v1/signing_keys.js';
import { rotateSigningKeys } from '../../../domain/sign-on/key-rotation.js';
import { type SigningKey, type SigningKeyStatus, statusOf } from '../../../domain/sign-on/signing-keys.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { Handlers } from '../../handlers.js';
import { actorOf } from '../actor.js';
import { fromAlgorithm, toAlgorithm } from './application-messages.js';
import { toDate } from './messages.js';
import type { OperatorDependencies } from './write.js';

const STATUSES: Record<SigningKeyStatus, StatusMessage> = {
  published: StatusMessage.PUBLISHED,
  active: StatusMessage.ACTIVE,
  superseded: StatusMessage.SUPERSEDED,
  retired: StatusMessage.RETIRED,
};

export function signingKeyHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    listSigningKeys: async () => {
      const keys = await operator.signingKeys.unitOfWork.rows.signingKeys.all();
      return { signingKeys: toMessages(keys, operator.clock()) };
    },
    rotateSigningKeys: async ({ algorithms, compromised }, context) => {
      const keys = await rotateSigningKeys(operator.signingKeys, actorOf(context), {
        algorithms: algorithms.map(requireAlgorithm),
        compromised,
      });
      return { signingKeys: toMessages(keys, operator.clock()) };
    },
  };
}

/** An algorithm that is none would rotate all of them, were it left out. */
function requireAlgorithm(value: Parameters<typeof fromAlgorithm>[0], index: number) {
  const algorithm = fromAlgorithm(value);
  if (algorithm === undefined) {
    const fieldViolations = [{ path: `algorithms[${index}]`, message: 'must be RS256, ES256 or EdDSA' }];
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'There is no such algorithm.', { fieldViolations });
  }
  return algorithm;
}

function toMessages(keys: readonly SigningKey[], now: number): SigningKeyMessage[] {
  return keys.map((key) => ({
    kid: key.kid,
    algorithm: toAlgorithm(key.algorithm),
    status: STATUSES[statusOf(key, keys, now)],
    createdAt: new Date(key.createdAt),
    activatesAt: new Date(key.activatesAt),
    supersededAt: toDate(key.supersededAt),
    // One that was withdrawn was gone before its tokens were over.
    retiresAt: toDate(key.retiredAt ?? key.retiresAt),
  }));
}
