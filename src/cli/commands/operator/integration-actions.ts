import type { Integration } from '../../../../generated/proto/integration/operator/v1/integrations.js';
import { asFacts, asTime } from '../output/table.js';
import { instanceIntegrationsOf, instanceIntegrationTable } from './instance-integration-actions.js';
import { listed, shownList } from './listing.js';
import type { Session, Shown } from './session.js';

export async function create({ operator, call }: Session, [name = '']: readonly string[]): Promise<Shown> {
  const answer = await operator.createIntegration({ name }, call);
  return { json: answer, text: facts(answer.integration as Integration) };
}

export async function list(
  { operator, call }: Session,
  _: readonly string[],
  { limit }: { limit?: number },
): Promise<Shown> {
  const found = await listed(limit, async (page) => {
    const { integrations, nextPageToken } = await operator.listIntegrations(page, call);
    return { rows: integrations, nextPageToken };
  });
  return shownList(found, ['id', 'name', 'created'], ({ id, name, createdAt }) => [
    id,
    name,
    asTime(createdAt),
  ]);
}

export async function show(session: Session, [integrationId = '']: readonly string[]): Promise<Shown> {
  const answer = await session.operator.getIntegration({ integrationId }, session.call);
  const instanceIntegrations = await instanceIntegrationsOf(session, { integrationId });
  const text = `${facts(answer.integration as Integration)}\n\n${instanceIntegrationTable(instanceIntegrations).text}`;
  return { json: { ...answer, instanceIntegrations: instanceIntegrations.rows }, text };
}

export async function update(
  { operator, call }: Session,
  [integrationId = '']: readonly string[],
  { name, expectedVersion }: { name: string; expectedVersion?: string },
): Promise<Shown> {
  const answer = await operator.updateIntegration(
    { integrationId, name, updateMask: ['name'], expectedVersion },
    call,
  );
  return { json: answer, text: facts(answer.integration as Integration) };
}

function facts({ id, name, createdAt, updatedAt, version }: Integration): string {
  return asFacts([
    ['Integration', id],
    ['Name', name],
    ['Created', asTime(createdAt)],
    ['Changed', asTime(updatedAt)],
    ['Version', version],
  ]);
}
