import type { ClientId, InstanceId, InstanceIntegrationId, IntegrationId } from '../../../generated/ids.js';
import { ErrorCode, type RateLimit, ServiceError } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';
import { type Observe, STRANGER } from '../operator/audit.js';
import { noteUse } from './last-use.js';
import { ListSlots } from './list-slots.js';
import type { RateLimiter } from './rate-limiter.js';
import type { FoundVisit, StoredApiKey, VisitStore } from './visit-store.js';

/** An integration whose key was accepted, for the length of one call. */
export interface Visitor {
  integrationId: IntegrationId;
  apiKeyId: string;
  rateLimit: RateLimit;
  /** Version of what the answer is about. */
  version: string;
}

export interface InstanceVisitor extends Visitor {
  instanceId: InstanceId;
}

export interface ClientVisitor extends InstanceVisitor {
  clientId: ClientId;
}

/** The key that came with a read. */
export interface PresentedKey {
  keyHash: Uint8Array;
  remoteAddress?: string;
}

const LAST_USE_STEP_MS = 3_600_000;

/** Lets an integration in: first the key, then the rate, then what the path names. */
export class Gatekeeper {
  constructor(
    private readonly visits: VisitStore,
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
    private readonly onBackgroundError: (error: unknown) => void,
    private readonly observe: Observe,
    private readonly lists = new ListSlots(),
  ) {}

  /** Counts a list against what its integration, and all together, may read at once. */
  beginList(visitor: Visitor, until: AbortSignal): void {
    this.lists.hold(visitor, until);
  }

  /** Whether each of its lists can wait. */
  readsManyLists({ integrationId }: Visitor): boolean {
    return this.lists.areMany(integrationId);
  }

  async admit(shown: PresentedKey): Promise<Visitor> {
    return this.#admit(shown, await this.visits.findKey(shown.keyHash)).visitor;
  }

  /** To the instance of one connection, once that is set up. */
  async admitToInstance(shown: PresentedKey, id: InstanceIntegrationId): Promise<InstanceVisitor> {
    const { visitor, found } = this.#admit(shown, await this.visits.findConnection(shown.keyHash, id));
    return { ...visitor, instanceId: reachedInstance(found, visitor) };
  }

  async admitToClient(
    shown: PresentedKey,
    id: InstanceIntegrationId,
    clientId: ClientId,
  ): Promise<ClientVisitor> {
    const { visitor, found } = this.#admit(shown, await this.visits.findClient(shown.keyHash, id, clientId));
    const instanceId = reachedInstance(found, visitor);
    if (found.client === undefined) {
      throw notFound(ErrorCode.CLIENT_NOT_FOUND, 'Client not found', visitor);
    }
    return { ...visitor, instanceId, clientId: found.client };
  }

  #admit(
    { remoteAddress }: PresentedKey,
    found: FoundVisit | undefined,
  ): { visitor: Visitor; found: FoundVisit } {
    const now = this.clock();
    const reason = whyRefused(found, now);
    if (!found || reason !== undefined) {
      this.#noteRefusal(found?.key, reason ?? 'unknown', remoteAddress);
      throw refusalOf(reason);
    }
    const { key, version } = found;
    const { allowed, ...rateLimit } = this.limiter.take(key.integrationId);
    if (!allowed) {
      const retryAfterSeconds = rateLimit.resetSeconds;
      const message = `Too many requests. Please try again in ${retryAfterSeconds} s.`;
      throw new ServiceError(ErrorCode.RATE_LIMITED, message, { rateLimit, retryAfterSeconds });
    }
    noteUse(key, now, LAST_USE_STEP_MS, this.visits.markUsed).catch(this.onBackgroundError);
    const visitor = { integrationId: key.integrationId, apiKeyId: key.id, rateLimit, version };
    return { visitor, found };
  }

  #noteRefusal(key: StoredApiKey | undefined, reason: string, remoteAddress: string | undefined): void {
    this.observe({
      type: 'api_key.refused',
      outcome: 'refused',
      actor: { ...(key ? { type: 'api_key', id: key.id } : STRANGER), remoteAddress },
      subject: key ? { type: 'integration', id: key.integrationId } : null,
      attributes: { reason },
    });
  }
}

function whyRefused(
  found: FoundVisit | undefined,
  now: number,
): 'unknown' | 'revoked' | 'expired' | undefined {
  if (!found) {
    return 'unknown';
  }
  const { revokedAt, expiresAt } = found.key;
  if (revokedAt !== null) {
    return 'revoked';
  }
  return expiresAt !== null && expiresAt <= now ? 'expired' : undefined;
}

/** What the key's holder learns: whether a key was revoked or never was is one answer. */
function refusalOf(reason: ReturnType<typeof whyRefused>): ServiceError {
  return reason === 'expired'
    ? new ServiceError(ErrorCode.API_KEY_EXPIRED, 'This API key has expired. Ask the operator for a new one.')
    : new ServiceError(ErrorCode.API_KEY_UNKNOWN, 'This API key is not known. It may have been revoked.');
}

/** The two sentences are part of the contract. */
function reachedInstance({ connection }: FoundVisit, visitor: Visitor): InstanceId {
  if (!connection) {
    throw notFound(ErrorCode.INSTANCE_INTEGRATION_NOT_FOUND, 'Instance integration not found', visitor);
  }
  if (!connection.configured) {
    throw notFound(
      ErrorCode.INSTANCE_INTEGRATION_NOT_CONFIGURED,
      'Instance integration not configured',
      visitor,
    );
  }
  return connection.instanceId;
}

function notFound(code: ErrorCode, message: string, { rateLimit }: Visitor): ServiceError {
  return new ServiceError(code, message, { rateLimit });
}
