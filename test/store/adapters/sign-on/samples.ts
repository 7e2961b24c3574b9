import { randomBytes } from 'node:crypto';
import type { AccountId } from '../../../../generated/ids.js';
import type { Grant, Session } from '../../../../src/domain/credentials/access.js';
import type { AccountLink } from '../../../../src/domain/credentials/links.js';
import {
  type AuthorizationCode,
  CODE_LIFETIME_MS,
} from '../../../../src/domain/sign-on/authorization/codes.js';
import type {
  AuthorizationRequest,
  Interaction,
} from '../../../../src/domain/sign-on/interaction/interactions.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';

export const HOUR_MS = 3_600_000;

export function newHash(): string {
  return randomBytes(32).toString('base64url');
}

export function newGrant(accountId: AccountId, now: number, fields: Partial<Grant> = {}): Grant {
  return {
    id: randomBytes(16).toString('base64url'),
    applicationId: newPublicId('ApplicationId'),
    accountId,
    instanceId: newPublicId('InstanceId'),
    scopes: ['openid', 'email'],
    authenticatedAt: now - 5,
    sessionId: 'session-1',
    generation: 1,
    rotatedAt: now,
    refreshExpiresAt: now + HOUR_MS,
    refreshEndsAt: now + 3 * HOUR_MS,
    expiresAt: now + 2 * HOUR_MS,
    revokedAt: null,
    ...fields,
  };
}

export function newCode(
  accountId: AccountId,
  now: number,
  fields: Partial<AuthorizationCode> = {},
): AuthorizationCode {
  return {
    hash: newHash(),
    grantId: randomBytes(16).toString('base64url'),
    applicationId: newPublicId('ApplicationId'),
    accountId,
    instanceId: newPublicId('InstanceId'),
    redirectUri: 'https://rota.example.com/callback?from=here',
    scopes: ['openid', 'profile'],
    codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    nonce: 'n-0S6_WzA2Mj “ü”',
    context: { userType: 'WORKER', clientId: newPublicId('ClientId') },
    authenticatedAt: now - 7,
    sessionId: 'session-1',
    status: 'ISSUED',
    issuedAt: now,
    expiresAt: now + CODE_LIFETIME_MS,
    ...fields,
  };
}

export function newSession(now: number, fields: Partial<Session> = {}): Session {
  return {
    id: `session-${newHash()}`,
    beganAs: null,
    tokenHash: newHash(),
    account: null,
    lastSeenAt: now,
    expiresAt: now + 24 * HOUR_MS,
    ...fields,
  };
}

export function newLink(accountId: AccountId, now: number, fields: Partial<AccountLink> = {}): AccountLink {
  return {
    tokenHash: newHash(),
    accountId,
    purpose: 'reset',
    emailKey: 'maren@example.com',
    createdAt: now,
    expiresAt: now + HOUR_MS,
    endedAt: null,
    ...fields,
  };
}

export function newRequest(fields: Partial<AuthorizationRequest> = {}): AuthorizationRequest {
  return {
    kind: 'authorization',
    applicationId: newPublicId('ApplicationId'),
    redirectUri: 'https://rota.example.com/callback',
    instanceId: newPublicId('InstanceId'),
    scopes: ['openid'],
    state: 'st"ä\\te',
    nonce: null,
    codeChallenge: null,
    prompts: ['login', 'consent'],
    maxAgeSeconds: 0,
    loginHint: null,
    hintedAccountId: null,
    query: 'scope=openid&state=%22',
    ...fields,
  };
}

export function newInteraction(now: number, fields: Partial<Interaction> = {}): Interaction {
  return {
    id: newHash(),
    sessionId: 'session-1',
    request: newRequest(),
    progress: {},
    expiresAt: now + HOUR_MS,
    ...fields,
  };
}
