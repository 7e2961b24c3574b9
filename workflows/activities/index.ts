import { type Maintenance, maintenanceActivities } from './maintenance.js';
import { type RetryingDomain, webhookRetryActivities } from './webhook-retry.js';

export interface ActivityDependencies {
  maintenance: Maintenance;
  webhookRetries: RetryingDomain;
}

export type Activities = ReturnType<typeof createActivities>;

export function createActivities({ maintenance, webhookRetries }: ActivityDependencies) {
  return { ...maintenanceActivities(maintenance), ...webhookRetryActivities(webhookRetries) };
}
