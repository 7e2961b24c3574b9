import { type Command, Option } from 'commander';
import type { KeyStatus } from '../../../../../generated/proto/integration/operator/v1/api_keys.js';
import type {
  CallerRole,
  ServiceToken,
} from '../../../../../generated/proto/integration/operator/v1/service_tokens.js';
import { confirmation } from '../../confirm.js';
import { idOf, timeAhead } from '../../options.js';
import { asEnum, asTime, asWord } from '../../output/table.js';
import { addGroup, addVerb, LIMIT, overlapOption, YES } from '../group.js';
import type { Action } from '../session.js';
import { columnsOf, type Facts, showing, shownOnce, shownPages } from '../showing.js';
import { EXPIRY, statusOption, successorExpiry } from './key.js';

const ROLES = ['operator', 'platform', 'support', 'auditor', 'key-custodian'];

export function addTokenCommands(program: Command): void {
  const group = addGroup(
    program,
    'token',
    'Service tokens, each with one right to call gRPC',
    'token create --role platform --label "Back office"',
    'token list --status active',
    'token rotate tok_… --overlap 24h',
    'token revoke tok_…',
  );
  addVerb(group, 'create', create, {
    about: 'Issue a service token, shown once',
    example: '--role platform --label "Back office"',
  })
    .addOption(new Option('--role <role>', 'what its holder may do').choices(ROLES).makeOptionMandatory())
    .requiredOption('--label <text>', 'what it is for')
    .option(
      '--instance <instance>',
      'the one instance that a platform token reaches; all unless given',
      idOf('ins'),
    )
    .option('--expires <when>', `${EXPIRY}; never unless given`, timeAhead);
  addVerb(group, 'list', list, { about: 'List service tokens, newest first', example: '--status active' })
    .addOption(statusOption())
    .option(...LIMIT);
  addVerb(group, 'rotate <service-token>', rotate, {
    about: 'Issue a successor, and let the present token end after an overlap',
    example: 'tok_… --overlap 24h',
  })
    .addOption(overlapOption('both work', 'one'))
    .addOption(successorExpiry('token'))
    .option('--yes', 'do not ask for confirmation when --overlap is 0');
  addVerb(group, 'revoke <service-token>', revoke, {
    about: 'End a service token at once',
    example: 'tok_… --yes',
  }).option(...YES);
}

const FACTS = {
  Token: ({ id }) => id,
  Role: ({ role }) => asWord(role, 'CALLER_ROLE_'),
  Instance: ({ instanceId }) => instanceId ?? 'all',
  Label: ({ label }) => label,
  Status: ({ status }) => asWord(status, 'KEY_STATUS_'),
  Created: ({ createdAt }) => asTime(createdAt),
  Expires: ({ expiresAt }) => asTime(expiresAt, 'never'),
  Rotated: ({ rotatedAt }) => asTime(rotatedAt),
  Revoked: ({ revokedAt }) => asTime(revokedAt),
} satisfies Facts<ServiceToken>;

const shown = showing('serviceToken', FACTS);

const create: Action<{ role: string; label: string }> = async (
  { operator },
  _,
  { role, label, expires: expiresAt, instance: instanceId },
) => {
  const right = asEnum<CallerRole>(role, 'CALLER_ROLE_');
  const answer = await operator.createServiceToken({ role: right, label, expiresAt, instanceId });
  return shown(answer, shownOnce('The token', answer.token));
};

const list: Action<{ status?: string }> = async ({ operator }, _, { status: word, limit }) => {
  const status = asEnum<KeyStatus>(word, 'KEY_STATUS_');
  return shownPages(limit, 'serviceTokens', (page) => operator.listServiceTokens({ status, ...page }), {
    ...columnsOf(FACTS, 'Token', 'Role', 'Instance', 'Label', 'Status', 'Expires'),
    'last used': ({ lastUsedAt }) => asTime(lastUsedAt),
  });
};

const rotate: Action = async ({ operator }, [serviceTokenId], { overlap, expires: expiresAt, yes }) => {
  if (overlap === 0) {
    const confirm = confirmation({ yes });
    await confirm(`End the service token ${serviceTokenId} at once, before its successor is in place?`);
  }
  const answer = await operator.rotateServiceToken({ serviceTokenId, overlapSeconds: overlap, expiresAt });
  const end = `The token before it, ${serviceTokenId}, works until ${asTime(answer.previousServiceToken?.expiresAt)}.`;
  return shown(answer, `${shownOnce('The token', answer.token)}\n${end}`);
};

const revoke: Action = async ({ operator }, [serviceTokenId], options) => {
  const confirm = confirmation(options);
  await confirm(`Revoke the service token ${serviceTokenId}? Callers that use it are refused at once.`);
  return shown(await operator.revokeServiceToken({ serviceTokenId }));
};
