import {
  type CodeExpiringDomain,
  type CodeExpiryActivities,
  createCodeExpiryActivities,
} from './code-expiry.js';
import { createPurgeActivities, type PurgeActivities, type PurgingDomain } from './purge.js';
import type { RetryingDomain } from './retry-ports.js';
import {
  createSigningKeyRotationActivities,
  type KeyRotatingDomain,
  type SigningKeyRotationActivities,
} from './signing-key-rotation.js';
import { createWebhookRetryActivities, type WebhookRetryActivities } from './webhook-retry.js';

export type Maintenance = PurgingDomain & CodeExpiringDomain & KeyRotatingDomain;

export interface ActivityDependencies {
  maintenance: Maintenance;
  webhookRetries: RetryingDomain;
}

export type Activities = PurgeActivities &
  CodeExpiryActivities &
  SigningKeyRotationActivities &
  WebhookRetryActivities;

export function createActivities({ maintenance, webhookRetries }: ActivityDependencies): Activities {
  return {
    ...createPurgeActivities(maintenance),
    ...createCodeExpiryActivities(maintenance),
    ...createSigningKeyRotationActivities(maintenance),
    ...createWebhookRetryActivities(webhookRetries),
  };
}
