import { KeyStatus } from '../../../../generated/proto/integration/operator/v1/api_keys.js';
import { SubscriptionStatus } from '../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { timeAhead } from '../option-parsers.js';
import { printableLine } from '../output/printable.js';
import { asTime, asWord } from '../output/table.js';
import { listed, shownList } from './listing.js';
import type { CommandOptions, Session, Shown } from './session.js';

export interface ExpiringOptions extends CommandOptions {
  within?: Date;
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

export async function expiring(
  session: Session,
  _: readonly string[],
  { within = timeAhead('30d') }: ExpiringOptions,
): Promise<Shown> {
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
  return shownList({ rows, more: false }, ['expires', 'kind', 'id', 'of', 'label', 'last used'], (one) => [
    asTime(one.expiresAt),
    one.kind,
    one.id,
    one.of,
    printableLine(one.label) || '-',
    asTime(one.lastUsedAt),
  ]);
}

async function apiKeys({ operator, call }: Session): Promise<Expiring[]> {
  const { rows } = await listed(undefined, 'apiKeys', (page) =>
    operator.listApiKeys({ status: KeyStatus.ACTIVE, ...page }, call),
  );
  return rows.map(({ id, integrationId, label, expiresAt, lastUsedAt }) => {
    return { kind: 'API key', id, of: integrationId, label, expiresAt, lastUsedAt };
  });
}

async function serviceTokens({ operator, call }: Session): Promise<Expiring[]> {
  const { rows } = await listed(undefined, 'serviceTokens', (page) =>
    operator.listServiceTokens({ status: KeyStatus.ACTIVE, ...page }, call),
  );
  return rows.map(({ id, role, label, expiresAt, lastUsedAt }) => {
    return { kind: 'service token', id, of: asWord(role, 'CALLER_ROLE_'), label, expiresAt, lastUsedAt };
  });
}

async function clientSecrets({ operator, call }: Session): Promise<Expiring[]> {
  const { rows } = await listed(undefined, 'applications', (page) => operator.listApplications(page, call));
  return rows.flatMap(({ id: of, name: label, secrets }) =>
    secrets.map(({ id, expiresAt, lastUsedAt }) => {
      return { kind: 'client secret', id, of, label, expiresAt, lastUsedAt };
    }),
  );
}

async function webhookSecrets({ webhooks, call }: Session): Promise<Expiring[]> {
  const filter = { status: SubscriptionStatus.UNSPECIFIED };
  const { rows } = await listed(undefined, 'subscriptions', (page) =>
    webhooks.listSubscriptions({ ...filter, ...page }, call),
  );
  return rows.flatMap(({ id: of, description: label, secrets }) =>
    secrets.map(({ id, expiresAt }) => ({ kind: 'webhook secret', id, of, label, expiresAt })),
  );
}
