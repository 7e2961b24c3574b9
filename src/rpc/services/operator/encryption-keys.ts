import {
  type EncryptionKey as EncryptionKeyMessage,
  EncryptionKeyStatus as StatusMessage,
} from '../../../../generated/proto/integration/operator/v1/encryption_keys.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  activateEncryptionKey,
  type EncryptionKeyState,
  type EncryptionKeyStatus,
  encryptionKeyStates,
  retireEncryptionKey,
} from '../../../domain/operator/encryption-keys.js';
import type { Handlers } from '../../handlers.js';
import { toDate } from './messages.js';
import { type OperatorDependencies, write } from './write.js';

const STATUSES: Record<EncryptionKeyStatus, StatusMessage> = {
  waiting: StatusMessage.WAITING,
  active: StatusMessage.ACTIVE,
  superseded: StatusMessage.SUPERSEDED,
  retired: StatusMessage.RETIRED,
};

export function encryptionKeyHandlers(
  operator: OperatorDependencies,
): Pick<
  Handlers<OperatorServiceService>,
  'listEncryptionKeys' | 'activateEncryptionKey' | 'retireEncryptionKey'
> {
  const states = async () => {
    const { keys, nodes } = await encryptionKeyStates(operator.unitOfWork.rows.encryptionKeys);
    return { encryptionKeys: keys.map(toMessage), nodes };
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
        // What is left may be of a node that learned of the rotation late.
        operator.encryptionKeys.lookSoon();
      }
      return { encryptionKeys: (await states()).encryptionKeys };
    },
  };
}

function toMessage(key: EncryptionKeyState): EncryptionKeyMessage {
  return {
    keyId: key.id,
    status: STATUSES[key.status],
    activatedAt: toDate(key.activatedAt),
    retiredAt: toDate(key.retiredAt),
    seals: key.seals,
    missingOn: [...key.missingOn],
  };
}
