import { type Command, Option } from 'commander';
import type { ApiKey, KeyStatus } from '../../../../../generated/proto/integration/operator/v1/api_keys.js';
import { LATEST_MS } from '../../../../domain/clock.js';
import { confirmation } from '../../confirm.js';
import { idOf, timeAhead } from '../../options.js';
import { asEnum, asTime, asWord } from '../../output/table.js';
import { addGroup, addVerb, EXPECTED_VERSION, LIMIT, overlapOption, YES } from '../group.js';
import type { Action } from '../session.js';
import { columnsOf, type Facts, showing, shownOnce, shownPages, updateMaskOf } from '../showing.js';

const REACH =
  'id of the integration. The key reads every instance that it is connected to, now or later: for a key of one instance, make an integration that is connected to that one only';
export const EXPIRY = 'when it ends: a UTC time, or a duration such as 90d';

export function addKeyCommands(program: Command): void {
  const group = addGroup(
    program,
    'key',
    'API keys of integrations',
    'key create itg_… --label "Nightly export" --expires 90d',
    'key rotate key_… --overlap 24h',
    'key revoke key_…',
  );
  addVerb(group, 'create', create, {
    about: 'Issue an API key, shown once',
    example: 'itg_… --label "Nightly export" --expires 90d',
  })
    .argument('<integration>', REACH, idOf('itg'))
    .requiredOption('--label <text>', 'what it is for')
    .option('--expires <when>', `${EXPIRY}; never unless given`, timeAhead);
  addVerb(group, 'list', list, { about: 'List API keys, newest first', example: 'itg_… --status active' })
    .argument('[integration]', 'only those of this integration', idOf('itg'))
    .addOption(statusOption())
    .option(...LIMIT);
  addVerb(group, 'show <key>', show, { about: 'Show one key' });
  addVerb(group, 'update <key>', update, {
    about: 'Change the label or the expiry of a key',
    example: 'key_… --expires 2027-01-31',
  })
    .option('--label <text>', 'what it is for')
    .addOption(new Option('--expires <when>', EXPIRY).argParser(timeAhead).conflicts('neverExpires'))
    .option('--never-expires', 'remove the expiry')
    .option(...EXPECTED_VERSION);
  addVerb(group, 'rotate <key>', rotate, {
    about: 'Issue a successor, and let the present key end after an overlap',
    example: 'key_… --overlap 24h',
  })
    .addOption(overlapOption('both work', 'one'))
    .addOption(successorExpiry('key').conflicts('neverExpires'))
    .option('--never-expires', 'the successor never expires')
    .option('--yes', 'do not ask for confirmation when --overlap is 0');
  addVerb(group, 'revoke <key>', revoke, { about: 'End a key at once', example: 'key_… --yes' }).option(
    ...YES,
  );
}

export function statusOption(): Option {
  return new Option('--status <status>', 'only those with this status').choices([
    'active',
    'expired',
    'revoked',
  ]);
}

export function successorExpiry(noun: string): Option {
  const about = `when the successor ends: a UTC time, or a duration such as 90d; by default it gets the lifetime of the present ${noun}`;
  return new Option('--expires <when>', about).argParser(timeAhead);
}

const FACTS = {
  Key: ({ id }) => id,
  Integration: ({ integrationId }) => integrationId,
  Label: ({ label }) => label,
  'Begins with': ({ keyStart }) => keyStart,
  Status: ({ status }) => asWord(status, 'KEY_STATUS_'),
  Created: ({ createdAt }) => asTime(createdAt),
  Expires: ({ expiresAt }) => asTime(expiresAt, 'never'),
  Rotated: ({ rotatedAt }) => asTime(rotatedAt),
  Revoked: ({ revokedAt }) => asTime(revokedAt),
  'Last used': ({ lastUsedAt }) => asTime(lastUsedAt),
  Version: ({ version }) => version,
} satisfies Facts<ApiKey>;

const shown = showing('apiKey', FACTS);

const create: Action<{ label: string }> = async ({ operator }, [integrationId], { label, expires }) => {
  const answer = await operator.createApiKey({ integrationId, label, expiresAt: expires });
  return shown(answer, shownOnce('The key', answer.key));
};

const list: Action<{ status?: string }, [integration?: string]> = async (
  { operator },
  [integrationId],
  { status, limit },
) => {
  const filter = { integrationId, status: asEnum<KeyStatus>(status, 'KEY_STATUS_') };
  return shownPages(
    limit,
    'apiKeys',
    (page) => operator.listApiKeys({ ...filter, ...page }),
    columnsOf(FACTS, 'Key', 'Integration', 'Label', 'Begins with', 'Status', 'Expires', 'Last used'),
    () => integrationId && operator.getIntegration({ integrationId }),
  );
};

const show: Action = async ({ operator }, [apiKeyId]) => shown(await operator.getApiKey({ apiKeyId }));

const update: Action<{ label?: string; neverExpires?: boolean }> = async (
  { operator },
  [apiKeyId],
  { label, expires: expiresAt, neverExpires, expectedVersion },
) => {
  const advice = 'Say what to change: --label, --expires or --never-expires.';
  const updateMask = updateMaskOf({ label, expiresAt: expiresAt ?? neverExpires }, advice);
  return shown(await operator.updateApiKey({ apiKeyId, label, expiresAt, updateMask, expectedVersion }));
};

const rotate: Action<{ neverExpires?: boolean }> = async (
  { operator },
  [apiKeyId],
  { overlap, expires, neverExpires, yes },
) => {
  const confirm = overlap === 0 ? confirmation({ yes }) : undefined;
  const { apiKey } = await operator.getApiKey({ apiKeyId });
  await confirm?.(`End ${named(apiKey)} at once, before its successor is in place?`);
  const expiresAt = neverExpires ? undefined : (expires ?? endOfSuccessor(apiKey));
  const answer = await operator.rotateApiKey({ apiKeyId, overlapSeconds: overlap, expiresAt });
  const end = `The key before it, ${apiKeyId}, works until ${asTime(answer.previousApiKey?.expiresAt)}.`;
  return shown(answer, `${shownOnce('The key', answer.key)}\n${end}`);
};

/** The successor gets the lifetime that the key was issued with, also if a rotation has shortened it. */
function endOfSuccessor(present: Partial<ApiKey> = {}): Date | undefined {
  const { createdAt, expiresAt, rotatedAt, intendedExpiresAt } = present;
  const end = rotatedAt ? intendedExpiresAt : expiresAt;
  return createdAt && end
    ? new Date(Math.min(Date.now() + end.getTime() - createdAt.getTime(), LATEST_MS))
    : undefined;
}

const revoke: Action = async ({ operator }, [apiKeyId], options) => {
  const confirm = confirmation(options);
  const { apiKey } = await operator.getApiKey({ apiKeyId });
  await confirm(`Revoke ${named(apiKey)}? Callers that use it are refused at once.`);
  return shown(await operator.revokeApiKey({ apiKeyId }));
};

function named(key: ApiKey | undefined): string {
  return `the key "${key?.label}" (${key?.keyStart}) of ${key?.integrationId}`;
}
