import {
  type MaintenanceServiceService,
  SigningKeyStep,
} from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import { advanceSigningKeys, type KeyRotation } from '../../domain/sign-on/keys/key-rotation.js';
import type { Handlers } from '../handlers.js';
import { words } from './words.js';

export interface KeyRotationDependencies {
  signingKeys: KeyRotation;
}

const SCHEDULE = { type: 'schedule', id: 'signing-key-rotation' };

/** Time alone withdraws no key. */
const STEPS = words(SigningKeyStep);

export function keyRotationMethods({
  signingKeys,
}: KeyRotationDependencies): Handlers<MaintenanceServiceService> {
  return {
    advanceSigningKeys: async (_, { requestId }) => {
      const { changes, nextDueAt } = await advanceSigningKeys(signingKeys, { ...SCHEDULE, requestId });
      return {
        changes: changes.map(({ key, step }) => ({
          kid: key.kid,
          step: step === 'withdrawn' ? SigningKeyStep.RETIRED : STEPS[step],
        })),
        nextDueAt,
      };
    },
  };
}
