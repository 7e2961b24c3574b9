import type { ActivityOptions } from '@temporalio/workflow';
import type { RetrySettings } from '../contract.js';

export function retryPolicy(settings: RetrySettings): NonNullable<ActivityOptions['retry']> {
  return {
    initialInterval: settings.retryFirstDelayMs,
    backoffCoefficient: 2,
    maximumInterval: settings.retryMaxDelayMs,
    maximumAttempts: settings.giveUpAfterAttempts,
  };
}
