import type { Command } from 'commander';
import type { KeyStatus } from '../../../../generated/proto/integration/operator/v1/api_keys.js';
import type { SubscriptionStatus } from '../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { addTargetOptions, TARGET_NOTE, timeAhead } from '../options.js';
import { printableLine } from '../output/printable.js';
import { asEnum, asTime, asWord } from '../output/table.js';
import { examples, runsInSession } from './group.js';
import type { Action, Session } from './session.js';
import { listed, shownList } from './showing.js';

const NOTES = `
Lists the active API keys and service tokens that expire within this time, and the secrets of applications and
subscriptions, which expire only after a rotation. Signing keys rotate by themselves. For certificates, see the metric
tls_certificate_not_after_seconds; it lacks those for Temporal, which \`integration doctor\` checks.

${TARGET_NOTE}
`;

export function addExpiringCommand(program: Command): void {
  const command = addTargetOptions(program.command('expiring'))
    .description('List keys, tokens and secrets that expire soon')
    .option('--within <when>', 'a UTC time, or a duration such as 90d; 30d unless given', timeAhead)
    .option('--json', 'as JSON, for scripts')
    .addHelpText('after', NOTES + examples('expiring --within 90d', 'expiring --within 14d --json'));
  runsInSession(command, expiring);
}

interface Expiring {
  kind: 'API key' | 'service token' | 'client secret' | 'webhook secret';
  id: string;
  /** The integration, application or subscription it belongs to, or the right of a token. */
  of: string;
  label: string;
  expiresAt?: Date | undefined;
  lastUsedAt?: Date | undefined;
}

const expiring: Action<{ within?: Date }> = async (session, _, { within = timeAhead('30d') }) => {
  const now = Date.now();
  const found = await Promise.all([
    apiKeys(session),
    serviceTokens(session),
    clientSecrets(session),
    webhookSecrets(session),
  ]);
  const endOf = ({ expiresAt }: Expiring) => expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const rows = found
    .flat()
    .filter((one) => endOf(one) > now && endOf(one) <= within.getTime())
    .sort((one, other) => endOf(one) - endOf(other));
  return shownList(rows, {
    expires: ({ expiresAt }) => asTime(expiresAt),
    kind: ({ kind }) => kind,
    id: ({ id }) => id,
    of: ({ of }) => of,
    label: ({ label }) => printableLine(label) || '-',
    'last used': ({ lastUsedAt }) => asTime(lastUsedAt),
  });
};

const status = asEnum<KeyStatus>('active', 'KEY_STATUS_');

async function apiKeys({ operator }: Session): Promise<Expiring[]> {
  const { rows } = await listed('apiKeys', (page) => operator.listApiKeys({ status, ...page }));
  return rows.map(({ id, integrationId, label, expiresAt, lastUsedAt }) => {
    return { kind: 'API key', id, of: integrationId, label, expiresAt, lastUsedAt };
  });
}

async function serviceTokens({ operator }: Session): Promise<Expiring[]> {
  const { rows } = await listed('serviceTokens', (page) => operator.listServiceTokens({ status, ...page }));
  return rows.map(({ id, role, label, expiresAt, lastUsedAt }) => {
    return { kind: 'service token', id, of: asWord(role, 'CALLER_ROLE_'), label, expiresAt, lastUsedAt };
  });
}

async function clientSecrets({ operator }: Session): Promise<Expiring[]> {
  const { rows } = await listed('applications', (page) => operator.listApplications(page));
  return rows.flatMap(({ id: of, name: label, secrets }) =>
    secrets.map(({ id, expiresAt, lastUsedAt }) => {
      return { kind: 'client secret', id, of, label, expiresAt, lastUsedAt };
    }),
  );
}

async function webhookSecrets({ webhooks }: Session): Promise<Expiring[]> {
  const any = asEnum<SubscriptionStatus>(undefined, 'SUBSCRIPTION_STATUS_');
  const { rows } = await listed('subscriptions', (page) =>
    webhooks.listSubscriptions({ status: any, ...page }),
  );
  return rows.flatMap(({ id: of, description: label, secrets }) =>
    secrets.map(({ id, expiresAt }) => ({ kind: 'webhook secret', id, of, label, expiresAt })),
  );
}
