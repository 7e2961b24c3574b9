import { type ApiKey, KeyStatus } from '../../../../../generated/proto/integration/operator/v1/api_keys.js';
import { confirmation } from '../../confirm.js';
import { asFacts, asTime, asWord } from '../../output/table.js';
import { UsageError } from '../../usage-error.js';
import { listed, shownList } from '../listing.js';
import { withSecret } from '../secret.js';
import type { Action } from '../session.js';

export type StatusName = 'active' | 'expired' | 'revoked';

const STATUSES: Record<StatusName, KeyStatus> = {
  active: KeyStatus.ACTIVE,
  expired: KeyStatus.EXPIRED,
  revoked: KeyStatus.REVOKED,
};

export function statusNamed(name: StatusName | undefined): KeyStatus {
  return name === undefined ? KeyStatus.UNSPECIFIED : STATUSES[name];
}

export const create: Action<{ label: string; expires?: Date }> = async (
  { operator, call },
  [integrationId = ''],
  { label, expires },
) => {
  const answer = await operator.createApiKey({ integrationId, label, expiresAt: expires }, call);
  return { json: answer, text: withSecret(facts(answer.apiKey), 'The key', answer.key) };
};

export const list: Action<{ status?: StatusName; limit?: number }> = async (
  { operator, call },
  [integrationId],
  { status, limit },
) => {
  const found = await listed(limit, 'apiKeys', (page) =>
    operator.listApiKeys({ integrationId, status: statusNamed(status), ...page }, call),
  );
  return shownList(
    found,
    ['key', 'integration', 'label', 'begins with', 'status', 'expires', 'last used'],
    (key) => [
      key.id,
      key.integrationId,
      key.label,
      key.keyStart,
      asWord(key.status, 'KEY_STATUS_'),
      asTime(key.expiresAt, 'never'),
      asTime(key.lastUsedAt),
    ],
  );
};

export const show: Action = async ({ operator, call }, [apiKeyId = '']) => {
  const answer = await operator.getApiKey({ apiKeyId }, call);
  return { json: answer, text: facts(answer.apiKey) };
};

export interface KeyUpdate {
  label?: string;
  expires?: Date;
  neverExpires?: boolean;
  expectedVersion?: string;
}

export const update: Action<KeyUpdate> = async (
  { operator, call },
  [apiKeyId = ''],
  { label, expires, neverExpires, expectedVersion },
) => {
  const updateMask = [
    ...(label === undefined ? [] : ['label']),
    ...(expires === undefined && !neverExpires ? [] : ['expires_at']),
  ];
  if (updateMask.length === 0) {
    throw new UsageError('Say what to change: --label, --expires or --never-expires.');
  }
  const request = { apiKeyId, label, expiresAt: expires, updateMask, expectedVersion };
  const answer = await operator.updateApiKey(request, call);
  return { json: answer, text: facts(answer.apiKey) };
};

export const rotate: Action<KeyRotation> = async (
  { operator, call },
  [apiKeyId = ''],
  { overlap, expires, neverExpires, yes },
) => {
  const confirm = overlap === 0 ? confirmation({ yes }) : undefined;
  const { apiKey } = await operator.getApiKey({ apiKeyId }, call);
  await confirm?.(`End ${named(apiKey)} at once, before its successor is in place?`);
  const expiresAt = neverExpires ? undefined : (expires ?? endOfSuccessor(apiKey));
  const request = { apiKeyId, overlapSeconds: overlap, expiresAt };
  const answer = await operator.rotateApiKey(request, call);
  const end = `The key before it, ${apiKeyId}, works until ${asTime(answer.previousApiKey?.expiresAt)}.`;
  return { json: answer, text: `${withSecret(facts(answer.apiKey), 'The key', answer.key)}\n${end}` };
};

interface KeyRotation {
  overlap?: number;
  expires?: Date;
  neverExpires?: boolean;
  yes?: boolean;
}

/** The successor lasts as long as its predecessor was to last. */
function endOfSuccessor({ createdAt, expiresAt }: Partial<ApiKey> = {}): Date | undefined {
  return createdAt && expiresAt
    ? new Date(Date.now() + expiresAt.getTime() - createdAt.getTime())
    : undefined;
}

export const revoke: Action<{ yes?: boolean }> = async ({ operator, call }, [apiKeyId = ''], options) => {
  const confirm = confirmation(options);
  const { apiKey } = await operator.getApiKey({ apiKeyId }, call);
  await confirm(`Revoke ${named(apiKey)}? Callers that use it are refused at once.`);
  const answer = await operator.revokeApiKey({ apiKeyId }, call);
  return { json: answer, text: facts(answer.apiKey) };
};

function named(key: ApiKey | undefined): string {
  return `the key "${key?.label}" (${key?.keyStart}) of ${key?.integrationId}`;
}

function facts(key: ApiKey | undefined): string {
  return asFacts([
    ['Key', key?.id ?? '-'],
    ['Integration', key?.integrationId ?? '-'],
    ['Label', key?.label ?? '-'],
    ['Begins with', key?.keyStart ?? '-'],
    ['Status', asWord(key?.status ?? '-', 'KEY_STATUS_')],
    ['Created', asTime(key?.createdAt)],
    ['Expires', asTime(key?.expiresAt, 'never')],
    ['Revoked', asTime(key?.revokedAt)],
    ['Last used', asTime(key?.lastUsedAt)],
    ['Version', key?.version ?? '-'],
  ]);
}
