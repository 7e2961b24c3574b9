import { timingSafeEqual } from 'node:crypto';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { networkOf } from '../../../identifiers/network-address.js';
import { assertAllowed } from '../../access/rate-limiter.js';
import { type Actor, STRANGER } from '../../operator/audit.js';
import { noteUse } from '../../operator/lifetime.js';
import type { GrantType } from '../../operator/rows/applications.js';
import type { KnownApplication, KnownSecret, TokenIssuer } from '../sign-on.js';

export interface PresentedClient {
  /** Undefined without credentials. */
  method: 'none' | 'secret' | undefined;
  clientId: string;
  /** SHA-256 of the secret. */
  secretHash: Uint8Array | undefined;
  remoteAddress: string;
  requestId: string;
}

const SHAPE_OF_ID = /^app_[0-9A-Za-z]{1,64}$/;
const HASH_BYTES = 32;

const LAST_USE_STEP_MS = 3_600_000;

/** Compared for unknown applications, so that they take as long. */
const STAND_IN_SECRET: KnownSecret = {
  id: '',
  createdAt: 0,
  expiresAt: null,
  lastUsedAt: null,
  hash: Buffer.alloc(HASH_BYTES).toString('base64url'),
};

/** Authenticates the application. An unknown one and a wrong secret get the same answer. */
export async function authenticateClient(
  issuer: TokenIssuer,
  client: PresentedClient,
): Promise<KnownApplication> {
  const { clientId } = client;
  // PostgreSQL refuses some texts, such as those with a NUL, so only ids are looked up.
  const application = SHAPE_OF_ID.test(clientId)
    ? await issuer.unitOfWork.rows.applications.find(clientId)
    : undefined;
  try {
    return client.method === 'secret'
      ? await bySecret(issuer, client, application)
      : withoutSecret(client, application);
  } catch (refusal) {
    noteRefusal(issuer, client, application, application ? 'wrong' : 'unknown_application');
    throw refusal;
  }
}

/** Records a refusal. Names an application only if it exists: the id is the caller's own text. */
function noteRefusal(
  { observe }: Pick<TokenIssuer, 'observe'>,
  client: PresentedClient,
  application: KnownApplication | undefined,
  reason: 'wrong' | 'unknown_application' | 'disabled',
): void {
  observe({
    type: 'client_secret.refused',
    outcome: 'refused',
    actor: { ...actorOf(client), ...(reason !== 'disabled' && STRANGER) },
    subject: application ? { type: 'application', id: application.id } : null,
    attributes: { method: client.method ?? 'unpresented', reason },
  });
}

/** An authenticated application and its actor in the audit log. */
export interface ProvenClient {
  application: KnownApplication;
  actor: Actor;
}

/** Called after the authentication, so that others do not learn what an application may do. */
export function assertMayUse(
  issuer: Pick<TokenIssuer, 'observe'>,
  client: PresentedClient,
  application: KnownApplication,
  grantType?: GrantType,
): void {
  if (!application.enabled) {
    // Its secret may have leaked. A public application can be named by anyone, which shows nothing.
    if (client.method === 'secret') {
      noteRefusal(issuer, client, application, 'disabled');
    }
    throw new ServiceError(ErrorCode.UNAUTHORIZED_CLIENT, 'The application is disabled.');
  }
  if (grantType && !application.allowedGrantTypes.includes(grantType)) {
    const message = `The application may not use the grant ${grantType}.`;
    throw new ServiceError(ErrorCode.UNAUTHORIZED_CLIENT, message);
  }
}

/** The actor in the audit log. */
export function actorOf({ clientId, requestId, remoteAddress }: PresentedClient): Actor {
  return { type: 'application', id: clientId, requestId, remoteAddress };
}

async function bySecret(
  issuer: TokenIssuer,
  client: PresentedClient,
  application: KnownApplication | undefined,
): Promise<KnownApplication> {
  const now = issuer.clock();
  const secret = matchingSecret(application?.secrets ?? [STAND_IN_SECRET], client.secretHash, now);
  if (!application || !secret) {
    // A right secret always passes: others share the address.
    const taken = await issuer.wrongSecrets.take(networkOf(client.remoteAddress));
    const message = 'Too many wrong secrets came from your address. Please try again in';
    assertAllowed(taken, (seconds) => `${message} ${seconds} s.`);
    throw refused();
  }
  noteUse(secret, now, LAST_USE_STEP_MS, (id, at, unlessSince) =>
    issuer.unitOfWork.run(({ applications }) => applications.markSecretUsed(id, at, unlessSince)),
  ).catch(issuer.onBackgroundError);
  return application;
}

function withoutSecret(
  { method, secretHash }: PresentedClient,
  application: KnownApplication | undefined,
): KnownApplication {
  if (method !== 'none' || secretHash !== undefined || application?.type !== 'public') {
    throw refused();
  }
  return application;
}

/** Compares all, for constant time. Public applications have none and match nothing. */
function matchingSecret(
  secrets: readonly KnownSecret[],
  presented: Uint8Array | undefined,
  now: number,
): KnownSecret | undefined {
  if (presented?.length !== HASH_BYTES) {
    return undefined;
  }
  const matching = secrets.filter(({ hash }) => timingSafeEqual(Buffer.from(hash, 'base64url'), presented));
  return matching.find(({ expiresAt }) => expiresAt === null || expiresAt > now);
}

function refused(): ServiceError {
  return new ServiceError(ErrorCode.INVALID_CLIENT, 'The application is unknown or its secret is wrong.');
}
