import {
  CallerRole,
  type ServiceToken,
} from '../../../../../generated/proto/integration/operator/v1/service_tokens.js';
import { confirmation } from '../../confirm.js';
import { asFacts, asTime, asWord } from '../../output/table.js';
import { listed, shownList } from '../listing.js';
import { withSecret } from '../secret.js';
import type { Action } from '../session.js';
import { type StatusName, statusNamed } from './key-actions.js';

const ROLES = {
  operator: CallerRole.OPERATOR,
  platform: CallerRole.PLATFORM,
  support: CallerRole.SUPPORT,
  auditor: CallerRole.AUDITOR,
  'key-custodian': CallerRole.KEY_CUSTODIAN,
};

interface TokenOptions {
  role: keyof typeof ROLES;
  label: string;
  expires?: Date;
  instance?: string;
}

export const create: Action<TokenOptions> = async (
  { operator, call },
  _,
  { role, label, expires, instance },
) => {
  const request = { role: ROLES[role], label, expiresAt: expires, instanceId: instance };
  const answer = await operator.createServiceToken(request, call);
  return { json: answer, text: withSecret(facts(answer.serviceToken), 'The token', answer.token) };
};

export const list: Action<{ status?: StatusName; limit?: number }> = async (
  { operator, call },
  _,
  { status, limit },
) => {
  const found = await listed(limit, 'serviceTokens', (page) =>
    operator.listServiceTokens({ status: statusNamed(status), ...page }, call),
  );
  return shownList(
    found,
    ['token', 'role', 'instance', 'label', 'status', 'expires', 'last used'],
    (token) => [
      token.id,
      asWord(token.role, 'CALLER_ROLE_'),
      token.instanceId ?? 'all',
      token.label,
      asWord(token.status, 'KEY_STATUS_'),
      asTime(token.expiresAt, 'never'),
      asTime(token.lastUsedAt),
    ],
  );
};

export const rotate: Action<{ overlap?: number; expires?: Date; yes?: boolean }> = async (
  { operator, call },
  [serviceTokenId = ''],
  { overlap, expires, yes },
) => {
  if (overlap === 0) {
    const confirm = confirmation({ yes });
    await confirm(`End the service token ${serviceTokenId} at once, before its successor is in place?`);
  }
  const request = { serviceTokenId, overlapSeconds: overlap, expiresAt: expires };
  const answer = await operator.rotateServiceToken(request, call);
  const end = `The token before it, ${serviceTokenId}, works until ${asTime(answer.previousServiceToken?.expiresAt)}.`;
  return {
    json: answer,
    text: `${withSecret(facts(answer.serviceToken), 'The token', answer.token)}\n${end}`,
  };
};

export const revoke: Action<{ yes?: boolean }> = async (
  { operator, call },
  [serviceTokenId = ''],
  options,
) => {
  const confirm = confirmation(options);
  await confirm(`Revoke the service token ${serviceTokenId}? Callers that use it are refused at once.`);
  const answer = await operator.revokeServiceToken({ serviceTokenId }, call);
  return { json: answer, text: facts(answer.serviceToken) };
};

function facts(token: ServiceToken | undefined): string {
  return asFacts([
    ['Token', token?.id ?? '-'],
    ['Role', asWord(token?.role ?? '-', 'CALLER_ROLE_')],
    ['Instance', token?.instanceId ?? 'all'],
    ['Label', token?.label ?? '-'],
    ['Status', asWord(token?.status ?? '-', 'KEY_STATUS_')],
    ['Created', asTime(token?.createdAt)],
    ['Expires', asTime(token?.expiresAt, 'never')],
    ['Revoked', asTime(token?.revokedAt)],
  ]);
}
