import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  SigningAlgorithm,
  SigningKeyStatus,
} from '../../../../generated/proto/integration/operator/v1/signing_keys.js';
import type { TokenAlgorithm } from '../../../domain/operator/rows/applications.js';
import { rotateSigningKeys } from '../../../domain/sign-on/keys/key-rotation.js';
import { type SigningKey, statusOf } from '../../../domain/sign-on/keys/signing-keys.js';
import { invalidField } from '../../../errors/service-error.js';
import { actorOf } from '../../call-audit.js';
import type { Handlers } from '../../handlers.js';
import { fromEnum, words } from '../fields.js';
import type { OperatorDependencies } from './write.js';

const STATUSES = words(SigningKeyStatus);
export const ALGORITHMS: Record<TokenAlgorithm, SigningAlgorithm> = {
  RS256: SigningAlgorithm.RS256,
  ES256: SigningAlgorithm.ES256,
  EdDSA: SigningAlgorithm.EDDSA,
};

export const fromAlgorithm = fromEnum(ALGORITHMS);

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

/** An unknown algorithm must not rotate all keys, as an omitted one does. */
function requireAlgorithm(value: Parameters<typeof fromAlgorithm>[0], index: number) {
  const algorithm = fromAlgorithm(value);
  if (algorithm === undefined) {
    throw invalidField(
      'There is no such algorithm.',
      `algorithms[${index}]`,
      'must be RS256, ES256 or EdDSA',
    );
  }
  return algorithm;
}

function toMessages(keys: readonly SigningKey[], now: number) {
  return keys.map((key) => ({
    ...key,
    algorithm: ALGORITHMS[key.algorithm],
    status: STATUSES[statusOf(key, keys, now)],
    // A withdrawn key retires before its tokens expire.
    retiresAt: key.retiredAt ?? key.retiresAt,
  }));
}
