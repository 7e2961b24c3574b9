import { publicIdPrefixes } from '../../generated/ids.js';
import type { WebhookEvent } from '../../generated/proto/integration/webhooks/v1/events.js';
import { ServiceTokenRefusal } from '../domain/access/service-tokens.js';
import {
  type Actor,
  type AuditParty,
  type Observation,
  type Observe,
  STRANGER,
} from '../domain/operator/audit.js';
import { snakeCase } from '../domain/platform/changes.js';
import { ErrorCode, type ServiceError } from '../errors/service-error.js';
import { remoteAddressOf } from './call-metadata.js';
import { type Caller, type Identity, ROLE_RIGHTS } from './callers.js';
import { type AdmittedCall, REFUSALS } from './gate.js';
import type { CallContext } from './handlers.js';

/** The actor in the audit log: the holder of the token. */
export function actorOf({ identity, requestId, remoteAddress, onBehalfOf }: CallContext): Actor {
  return { ...partyOf(identity.caller, identity.tokenId), requestId, remoteAddress, onBehalfOf };
}

/** Records refusals and reads in the audit log. */
export interface CallAudit {
  observe: Observe;
  /** Rejects when the record could not be written. */
  audit(observation: Observation): Promise<void>;
}

/** A call refused for its token or right, with the holder of the token if it is valid. */
export function refusalOf(
  method: string,
  { requestId, peer, identity, onBehalfOf }: AdmittedCall,
  error: ServiceError,
): Observation | undefined {
  if (!REFUSALS.has(error.code)) {
    return undefined;
  }
  const reason = error instanceof ServiceTokenRefusal ? error.reason : REASONS[error.code];
  return {
    type: 'call.refused',
    outcome: 'refused',
    actor: {
      ...partyOf(identity?.caller, tokenIdOf(identity, error)),
      requestId,
      remoteAddress: remoteAddressOf(peer),
      // Only of callers with a valid token: the log stores no text from strangers.
      ...(identity && onBehalfOf !== undefined && { onBehalfOf }),
    },
    subject: { type: 'method', id: method },
    attributes: { reason: reason ?? 'unknown' },
  };
}

/** The id of the token, also of one that is known and was refused. */
export function tokenIdOf(identity: Identity | undefined, error?: ServiceError): string | undefined {
  return identity?.tokenId ?? (error instanceof ServiceTokenRefusal ? error.tokenId : undefined);
}

const REASONS: { [Code in ErrorCode]?: string } = {
  [ErrorCode.SERVICE_TOKEN_MISSING]: 'missing',
  [ErrorCode.CALLER_NOT_ALLOWED]: 'not_allowed',
};

function partyOf(caller: Caller | undefined, tokenId: string | undefined): AuditParty {
  if (tokenId !== undefined) {
    return { type: 'service_token', id: tokenId };
  }
  return caller ? { type: 'service', id: caller } : STRANGER;
}

/** Reads of personal data are recorded, except the routine ones of the platform and of other roles. */
export function isWatched(caller: Caller): boolean {
  return caller !== 'platform' && !ROLE_RIGHTS.has(caller);
}

/**
 * A read of personal data: the caller, the method, and the one thing that the answer is about. Of an event it
 * is what the event is about, whose data it has: events are purged long before the record.
 */
export function readOf(method: string, request: unknown, answer: unknown, context: CallContext): Observation {
  const shown = theOneIn(answer);
  const entity = entityIn(answer);
  return {
    type: 'personal_data.read',
    outcome: 'succeeded',
    actor: actorOf(context),
    subject: entity ?? shown ?? namedBy(request) ?? onlyPersonIn(answer),
    attributes: { method, ...(entity && shown && { [`${shown.type}_id`]: shown.id }) },
  };
}

/** A read that found nothing. It is counted like a refusal: guessed ids must not fill the log. */
export function searchOf(method: string, request: unknown, context: CallContext): Observation {
  const read = readOf(method, request, undefined, context);
  return { ...read, outcome: 'refused', attributes: { ...read.attributes, reason: 'not_found' } };
}

const SHAPE_OF_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** What an audit record may repeat of a request, as an id. */
function isId(value: unknown): value is string {
  return typeof value === 'string' && SHAPE_OF_ID.test(value);
}

function theOneIn(answer: unknown): AuditParty | null {
  const parts = Object.entries(answer ?? {});
  const [found] = parts.flatMap(([name, part]) =>
    isId(part?.id) ? [{ type: snakeCase(name), id: part.id }] : [],
  );
  return found ?? null;
}

function entityIn(answer: unknown): AuditParty | null {
  const { entityType, entityId } = (answer as { event?: Partial<WebhookEvent> } | undefined)?.event ?? {};
  return entityType && isId(entityId) ? { type: snakeCase(entityType), id: entityId } : null;
}

/** Of a list for which the request names no id, such as a search for an address. */
function onlyPersonIn(answer: unknown): AuditParty | null {
  const entries = Object.values(answer ?? {}).flatMap((part) => (Array.isArray(part) ? part : []));
  const [id, ...others] = new Set<unknown>(entries.map((entry) => entry?.accountId ?? entry?.id));
  const isOne = others.length === 0 && isId(id) && id.startsWith(`${publicIdPrefixes.AccountId}_`);
  return isOne ? { type: 'account', id } : null;
}

function namedBy(request: unknown): AuditParty | null {
  const ids = Object.entries(request ?? {})
    .map(([name, value]) => (value?.$case ? [value.$case, value.value] : [name, value]))
    .filter(([name, value]) => name.endsWith('Id') && isId(value));
  const [first] = ids as [string, string][];
  return first ? { type: snakeCase(first[0].slice(0, -2)), id: first[1] } : null;
}
