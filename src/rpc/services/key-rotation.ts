import {
  type MaintenanceServiceService,
  SigningKeyStep,
} from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import type { KeyStep } from '../../domain/sign-on/due-key-changes.js';
import { advanceSigningKeys, type KeyRotation } from '../../domain/sign-on/key-rotation.js';
import type { Handlers } from '../handlers.js';

export interface KeyRotationDependencies {
  signingKeys: KeyRotation;
}

const SCHEDULE = { type: 'schedule', id: 'signing-key-rotation' };

/** Time alone withdraws no key. */
const STEPS: Record<Exclude<KeyStep, 'withdrawn'>, SigningKeyStep> = {
  published: SigningKeyStep.PUBLISHED,
  activated: SigningKeyStep.ACTIVATED,
  superseded: SigningKeyStep.SUPERSEDED,
  retired: SigningKeyStep.RETIRED,
};

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
        nextDueAt: new Date(nextDueAt),
      };
    },
  };
}
