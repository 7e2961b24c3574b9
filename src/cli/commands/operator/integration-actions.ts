import type { Integration } from '../../../../generated/proto/integration/operator/v1/integrations.js';
import { asFacts, asTime } from '../output/table.js';
import { UsageError } from '../usage-error.js';
import { instanceIntegrationsOf, instanceIntegrationTable } from './instance-integration-actions.js';
import { listed, shownList } from './listing.js';
import type { Action } from './session.js';

export const create: Action<{ contactEmail?: string }> = async (
  { operator, call },
  [name = ''],
  { contactEmail },
) => {
  const answer = await operator.createIntegration({ name, contactEmail }, call);
  return { json: answer, text: facts(answer.integration as Integration) };
};

export const list: Action<{ limit?: number }> = async ({ operator, call }, _, { limit }) => {
  const found = await listed(limit, 'integrations', (page) => operator.listIntegrations(page, call));
  return shownList(found, ['id', 'name', 'created'], ({ id, name, createdAt }) => [
    id,
    name,
    asTime(createdAt),
  ]);
};

export const show: Action = async (session, [integrationId = '']) => {
  const answer = await session.operator.getIntegration({ integrationId }, session.call);
  const instanceIntegrations = await instanceIntegrationsOf(session, { integrationId });
  const text = `${facts(answer.integration as Integration)}\n\n${instanceIntegrationTable(instanceIntegrations).text}`;
  return { json: { ...answer, instanceIntegrations: instanceIntegrations.rows }, text };
};

export const update: Action<{ name?: string; contactEmail?: string; expectedVersion?: string }> = async (
  { operator, call },
  [integrationId = ''],
  { name, contactEmail, expectedVersion },
) => {
  const updateMask = [
    ...(name === undefined ? [] : ['name']),
    ...(contactEmail === undefined ? [] : ['contact_email']),
  ];
  if (updateMask.length === 0) {
    throw new UsageError('Nothing to change: give --name or --contact-email.');
  }
  const answer = await operator.updateIntegration(
    { integrationId, name, contactEmail: contactEmail || undefined, updateMask, expectedVersion },
    call,
  );
  return { json: answer, text: facts(answer.integration as Integration) };
};

function facts({ id, name, contactHint, createdAt, updatedAt, version }: Integration): string {
  return asFacts([
    ['Integration', id],
    ['Name', name],
    ['Contact', contactHint || '-'],
    ['Created', asTime(createdAt)],
    ['Changed', asTime(updatedAt)],
    ['Version', version],
  ]);
}
