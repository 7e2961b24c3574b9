import type { SigningKeyRotationOutcome } from '../contract.js';
import { type DomainCall, domainCall } from './domain-call.js';

export interface KeyRotatingDomain {
  /** Takes every due step of the rotation; a second call finds none. */
  advanceSigningKeys(call: DomainCall): Promise<SigningKeyRotationOutcome>;
}

export interface SigningKeyRotationActivities {
  advanceSigningKeys(): Promise<SigningKeyRotationOutcome>;
}

export function createSigningKeyRotationActivities(domain: KeyRotatingDomain): SigningKeyRotationActivities {
  return { advanceSigningKeys: () => domain.advanceSigningKeys(domainCall()) };
}
