import { createPurgeActivities, type Maintenance, type PurgeActivities } from './purge.js';

export interface ActivityDependencies {
  maintenance: Maintenance;
}

export type Activities = PurgeActivities;

export function createActivities(dependencies: ActivityDependencies): Activities {
  return { ...createPurgeActivities(dependencies) };
}
