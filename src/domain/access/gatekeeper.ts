import type { ClientId, InstanceId, InstanceIntegrationId, IntegrationId } from '../../../generated/ids.js';
import { problemMessages } from '../../../generated/problems.js';
import { ErrorCode, type KeyHolder, type RateLimit, ServiceError } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';
import { type Observe, STRANGER } from '../operator/audit.js';
import { type MarkUsed, noteUse, type Rotation, statusOf } from '../operator/lifetime.js';
import type { ApiKey } from '../operator/rows/integrations.js';
import { ListSlots } from './list-slots.js';
import { assertAllowed, type CallLimiter } from './rate-limiter.js';

export type StoredApiKey = Omit<ApiKey, 'label' | 'hint' | 'version' | 'createdAt' | keyof Rotation>;

/** What the path names and the key reaches. What it does not reach is absent, as if it did not exist. */
export interface Reached {
  /** The instance integration, if it belongs to the key's integration. */
  instanceIntegration?: { instanceId: InstanceId; configured: boolean };
  /** The client, if it belongs to the instance integration's instance. */
  client?: ClientId;
}

export interface FoundVisit extends Reached {
  key: StoredApiKey;
  /** The version of the data, read together with the key and so before the rows. */
  version: string;
}

/** The key and what it reaches, in one read, by the hash of the key; only hashes are stored. */
export interface VisitStore {
  /** The version is the integration's. */
  findKey(hash: Uint8Array): Promise<FoundVisit | undefined>;
  /** The version is the instance's. */
  findInstanceIntegration(hash: Uint8Array, id: InstanceIntegrationId): Promise<FoundVisit | undefined>;
  /** The version is the client's. */
  findClient(
    hash: Uint8Array,
    id: InstanceIntegrationId,
    clientId: ClientId,
  ): Promise<FoundVisit | undefined>;
  markUsed: MarkUsed;
}

/** An integration with an accepted key, for one call. */
export interface Visitor extends KeyHolder {
  integrationId: IntegrationId;
  rateLimit: RateLimit;
  /** The version of the data that the answer covers. */
  version: string;
  /** Set for an answer that is still empty: it waits for the next change of this instance. */
  awaitedInstanceId?: InstanceId;
}

export interface InstanceVisitor extends Visitor {
  instanceId: InstanceId;
}

export interface ClientVisitor extends InstanceVisitor {
  clientId: ClientId;
}

/** The key of a read. */
export interface PresentedKey {
  apiKeyHash: Uint8Array;
  remoteAddress?: string;
  /** The rate limit has counted the read: this call continues it. */
  isCounted?: boolean;
}

const LAST_USE_STEP_MS = 3_600_000;

/** Admits an integration: checks the key, then the rate, then the path. */
export class Gatekeeper {
  constructor(
    private readonly visits: VisitStore,
    private readonly limiter: CallLimiter,
    private readonly clock: Clock,
    private readonly onBackgroundError: (error: unknown) => void,
    private readonly observe: Observe,
    /** Counts the lists that are read, per integration and in total. */
    readonly lists = new ListSlots(),
  ) {}

  async admit(shown: PresentedKey): Promise<Visitor> {
    return (await this.#admit(shown, await this.visits.findKey(shown.apiKeyHash))).visitor;
  }

  /** Admits to the instance of an instance integration that is set up. */
  async admitToInstance(shown: PresentedKey, id: InstanceIntegrationId): Promise<InstanceVisitor> {
    const { visitor, found } = await this.#admit(
      shown,
      await this.visits.findInstanceIntegration(shown.apiKeyHash, id),
    );
    return { ...visitor, instanceId: reachedInstance(found, visitor) };
  }

  async admitToClient(
    shown: PresentedKey,
    id: InstanceIntegrationId,
    clientId: ClientId,
  ): Promise<ClientVisitor> {
    const reached = await this.visits.findClient(shown.apiKeyHash, id, clientId);
    const { visitor, found } = await this.#admit(shown, reached);
    const instanceId = reachedInstance(found, visitor);
    if (found.client === undefined) {
      throw contractRefusal('client_not_found', visitor);
    }
    return { ...visitor, instanceId, clientId: found.client };
  }

  async #admit(
    { remoteAddress, isCounted = false }: PresentedKey,
    found: FoundVisit | undefined,
  ): Promise<{ visitor: Visitor; found: FoundVisit }> {
    const now = this.clock();
    const status = found ? statusOf(found.key, now) : 'unknown';
    if (!found || status !== 'active') {
      this.#noteRefusal(found?.key, status, remoteAddress);
      // For the holder of the key, a revoked one and an unknown one are the same.
      throw contractRefusal(status === 'expired' ? 'api_key_expired' : 'api_key_unknown');
    }
    const { key, version } = found;
    const holder = { integrationId: key.integrationId, apiKeyId: key.id };
    const rateLimit = isCounted
      ? this.limiter.standing(key.integrationId)
      : assertAllowed(
          await this.limiter.take(key.integrationId),
          (seconds) => `Too many requests. Please try again in ${seconds} s.`,
          holder,
        );
    noteUse(key, now, LAST_USE_STEP_MS, this.visits.markUsed).catch(this.onBackgroundError);
    const visitor = { ...holder, rateLimit, version };
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

function reachedInstance({ instanceIntegration }: FoundVisit, visitor: Visitor): InstanceId {
  if (!instanceIntegration) {
    throw contractRefusal('instance_integration_not_found', visitor);
  }
  if (!instanceIntegration.configured) {
    throw contractRefusal('instance_integration_not_configured', visitor);
  }
  return instanceIntegration.instanceId;
}

/** A refusal whose sentence is part of the contract. */
export function contractRefusal(name: RefusalName, visitor?: Visitor): ServiceError {
  return new ServiceError(ErrorCode[name.toUpperCase() as Uppercase<RefusalName>], problemMessages[name], {
    rateLimit: visitor?.rateLimit,
    keyHolder: visitor,
  });
}

type RefusalName = keyof typeof problemMessages & Lowercase<keyof typeof ErrorCode>;
