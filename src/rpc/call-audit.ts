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
  { requestId, peer, identity }: AdmittedCall,
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

/** A read of personal data: the caller, the method, and the id where request or answer concern one thing. */
export function readOf(method: string, request: unknown, answer: unknown, context: CallContext): Observation {
  return {
    type: 'personal_data.read',
    outcome: 'succeeded',
    actor: actorOf(context),
    subject: theOneIn(answer) ?? namedBy(request),
    attributes: { method },
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

function namedBy(request: unknown): AuditParty | null {
  const ids = Object.entries(request ?? {}).filter(([name, value]) => name.endsWith('Id') && isId(value));
  const [first] = ids as [string, string][];
  return first ? { type: snakeCase(first[0].slice(0, -2)), id: first[1] } : null;
}
