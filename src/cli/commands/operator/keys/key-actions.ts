import { type ApiKey, KeyStatus } from '../../../../../generated/proto/integration/operator/v1/api_keys.js';
import { confirmation } from '../../confirm.js';
import { asFacts, asTime, asWord } from '../../output/table.js';
import { UsageError } from '../../usage-error.js';
import { listed, shownList } from '../listing.js';
import { withSecret } from '../secret.js';
import type { Session, Shown } from '../session.js';

export type StatusName = 'active' | 'expired' | 'revoked';

const STATUSES: Record<StatusName, KeyStatus> = {
  active: KeyStatus.ACTIVE,
  expired: KeyStatus.EXPIRED,
  revoked: KeyStatus.REVOKED,
};

export function statusNamed(name: StatusName | undefined): KeyStatus {
  return name === undefined ? KeyStatus.UNSPECIFIED : STATUSES[name];
}

export async function create(
  { operator, call }: Session,
  [integrationId = '']: readonly string[],
  { label, expires }: { label: string; expires?: Date },
): Promise<Shown> {
  const answer = await operator.createApiKey({ integrationId, label, expiresAt: expires }, call);
  return { json: answer, text: withSecret(facts(answer.apiKey), 'The key', answer.key) };
}

export async function list(
  { operator, call }: Session,
  [integrationId]: readonly (string | undefined)[],
  { status, limit }: { status?: StatusName; limit?: number },
): Promise<Shown> {
  const found = await listed(limit, async (page) => {
    const request = { integrationId, status: statusNamed(status), ...page };
    const { apiKeys, nextPageToken } = await operator.listApiKeys(request, call);
    return { rows: apiKeys, nextPageToken };
  });
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
}

export async function show({ operator, call }: Session, [apiKeyId = '']: readonly string[]): Promise<Shown> {
  const answer = await operator.getApiKey({ apiKeyId }, call);
  return { json: answer, text: facts(answer.apiKey) };
}

export interface KeyUpdate {
  label?: string;
  expires?: Date;
  neverExpires?: boolean;
  expectedVersion?: string;
}

export async function update(
  { operator, call }: Session,
  [apiKeyId = '']: readonly string[],
  { label, expires, neverExpires, expectedVersion }: KeyUpdate,
): Promise<Shown> {
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
}

export async function rotate(
  { operator, call }: Session,
  [apiKeyId = '']: readonly string[],
  { overlap, expires, neverExpires, yes }: KeyRotation,
): Promise<Shown> {
  const confirm = overlap === 0 ? confirmation({ yes }) : undefined;
  const { apiKey } = await operator.getApiKey({ apiKeyId }, call);
  await confirm?.(`End ${named(apiKey)} at once, before its successor is in place?`);
  const expiresAt = neverExpires ? undefined : (expires ?? endOfSuccessor(apiKey));
  const request = { apiKeyId, overlapSeconds: overlap, expiresAt };
  const answer = await operator.rotateApiKey(request, call);
  const end = `The key before it, ${apiKeyId}, works until ${asTime(answer.previousApiKey?.expiresAt)}.`;
  return { json: answer, text: `${withSecret(facts(answer.apiKey), 'The key', answer.key)}\n${end}` };
}

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

export async function revoke(
  { operator, call }: Session,
  [apiKeyId = '']: readonly string[],
  options: { yes?: boolean },
): Promise<Shown> {
  const confirm = confirmation(options);
  const { apiKey } = await operator.getApiKey({ apiKeyId }, call);
  await confirm(`Revoke ${named(apiKey)}? Callers that use it are refused at once.`);
  const answer = await operator.revokeApiKey({ apiKeyId }, call);
  return { json: answer, text: facts(answer.apiKey) };
}

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
