import { proxyActivities } from '@temporalio/workflow';
import type { RetrySettings } from '../contract.js';

/** The activities, whose failed steps are repeated as the settings say. */
export function activitiesWith<Activities extends object>(
  stepTimeoutMs: number,
  { retryFirstDelayMs, retryMaxDelayMs, giveUpAfterAttempts }: RetrySettings,
) {
  return proxyActivities<Activities>({
    startToCloseTimeout: stepTimeoutMs,
    retry: {
      initialInterval: retryFirstDelayMs,
      backoffCoefficient: 2,
      maximumInterval: retryMaxDelayMs,
      maximumAttempts: giveUpAfterAttempts,
    },
  });
}
