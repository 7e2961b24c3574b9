import type { InstanceId } from '../../../../generated/ids.js';
import type { ServiceTokenKind } from '../../../identifiers/service-token.js';
import type { PageRequest } from '../../directory/page.js';
import type { Credential, KeyStatus, Rotation } from '../lifetime.js';

export interface ServiceToken extends Credential {
  kind: ServiceTokenKind;
  /** The only instance that a platform token reaches; null for all. */
  instanceId: InstanceId | null;
  /** The first token of its line of successors, with which it shares idempotency keys; null for that one. */
  ownerId: string | null;
}

export interface ServiceTokenRows {
  find(id: string): Promise<ServiceToken | undefined>;
  /** Newest first; the status is as of `now`. */
  page(page: PageRequest, filter: { status?: KeyStatus; now: number }): Promise<ServiceToken[]>;
  /** Of a kind, valid at that time. At most two: more do not matter to the rules. */
  someActive(kind: ServiceTokenKind, now: number): Promise<ServiceToken[]>;
  insert(token: ServiceToken, hash: Uint8Array): Promise<void>;
  revoke(id: string, at: number): Promise<void>;
  rotate(id: string, rotation: Rotation & Pick<ServiceToken, 'expiresAt'>): Promise<void>;
}
