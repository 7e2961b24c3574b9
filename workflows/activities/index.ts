import {
  type CodeExpiringDomain,
  type CodeExpiryActivities,
  createCodeExpiryActivities,
} from './code-expiry.js';
import { createPurgeActivities, type PurgeActivities, type PurgingDomain } from './purge.js';
import {
  createSigningKeyRotationActivities,
  type KeyRotatingDomain,
  type SigningKeyRotationActivities,
} from './signing-key-rotation.js';

export type Maintenance = PurgingDomain & CodeExpiringDomain & KeyRotatingDomain;

export interface ActivityDependencies {
  maintenance: Maintenance;
}

export type Activities = PurgeActivities & CodeExpiryActivities & SigningKeyRotationActivities;

export function createActivities({ maintenance }: ActivityDependencies): Activities {
  return {
    ...createPurgeActivities(maintenance),
    ...createCodeExpiryActivities(maintenance),
    ...createSigningKeyRotationActivities(maintenance),
  };
}
