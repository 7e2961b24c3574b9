import { EncryptionKeyStatus } from '../../../../generated/proto/integration/operator/v1/encryption_keys.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  activateEncryptionKey,
  encryptionKeyStates,
  retireEncryptionKey,
} from '../../../domain/operator/encryption-keys.js';
import type { Handlers } from '../../handlers.js';
import { words } from '../fields.js';
import { write } from '../writes.js';
import type { OperatorDependencies } from './write.js';

const STATUSES = words(EncryptionKeyStatus);

export function encryptionKeyHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  const states = async () => {
    const { keys, nodes } = await encryptionKeyStates(operator.unitOfWork.rows.encryptionKeys);
    return {
      encryptionKeys: keys.map((key) => ({ ...key, keyId: key.id, status: STATUSES[key.status] })),
      nodes,
    };
  };
  return {
    listEncryptionKeys: states,
    activateEncryptionKey: async ({ keyId }, context) => {
      await write(operator, context, (changes) => activateEncryptionKey(changes, keyId));
      operator.encryptionKeys.lookSoon();
      return { encryptionKeys: (await states()).encryptionKeys };
    },
    retireEncryptionKey: async ({ keyId }, context) => {
      try {
        await write(operator, context, (changes) => retireEncryptionKey(changes, keyId));
      } finally {
        // Values still sealed with it may come from a node that learned of the rotation late.
        operator.encryptionKeys.lookSoon();
      }
      return { encryptionKeys: (await states()).encryptionKeys };
    },
  };
}
