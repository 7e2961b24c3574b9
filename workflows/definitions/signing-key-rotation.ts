import { setCurrentDetails, upsertMemo } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.js';
import type { SigningKeyRotationInput, SigningKeyRotationOutcome } from '../contract.js';
import { activitiesWith } from './activities.js';

/** Takes the due steps of the signing keys, and returns them with the next due time. */
export async function signingKeyRotation(input: SigningKeyRotationInput): Promise<SigningKeyRotationOutcome> {
  const { advanceSigningKeys } = activitiesWith<MaintenanceActivities>(input.stepTimeoutMs, input);
  const outcome = await advanceSigningKeys.executeWithOptions(
    { activityId: 'advance', summary: 'Publishes, activates and retires keys that are due' },
    [],
  );
  setCurrentDetails(describe(outcome));
  upsertMemo({ steps: stepsOf(outcome), nextDueAt: outcome.nextDueAt ?? 'not known' });
  return outcome;
}

function stepsOf({ changes }: SigningKeyRotationOutcome): string {
  return changes.map(({ kid, step }) => `${step} ${kid}`).join(', ') || 'none';
}

function describe(outcome: SigningKeyRotationOutcome): string {
  const { changes, nextDueAt } = outcome;
  const done = changes.length > 0 ? `Steps taken: ${stepsOf(outcome)}.` : 'Nothing was due.';
  return nextDueAt === null ? done : `${done} The next step is due at ${nextDueAt}.`;
}
