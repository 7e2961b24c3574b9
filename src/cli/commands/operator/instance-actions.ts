import type { Instance } from '../../../../generated/proto/integration/platform/v1/instances.js';
import { asFacts, asTime } from '../output/table.js';
import { instanceIntegrationsOf, instanceIntegrationTable } from './instance-integration-actions.js';
import { listed, shownList } from './listing.js';
import type { Action } from './session.js';

export const create: Action = async ({ platform, call }, [name = '']) => {
  const answer = await platform.createInstance({ name }, call);
  return { json: answer, text: facts(answer.instance as Instance) };
};

export const list: Action<{ limit?: number }> = async ({ platform, call }, _, { limit }) => {
  const found = await listed(limit, 'instances', (page) => platform.listInstances(page, call));
  return shownList(found, ['id', 'name', 'created'], ({ id, name, createdAt }) => [
    id,
    name,
    asTime(createdAt),
  ]);
};

export const show: Action = async (session, [instanceId = '']) => {
  const answer = await session.platform.getInstance({ instanceId }, session.call);
  const instanceIntegrations = await instanceIntegrationsOf(session, { instanceId });
  const text = `${facts(answer.instance as Instance)}\n\n${instanceIntegrationTable(instanceIntegrations).text}`;
  return { json: { ...answer, instanceIntegrations: instanceIntegrations.rows }, text };
};

export const update: Action<{ name: string; expectedVersion?: string }> = async (
  { platform, call },
  [instanceId = ''],
  { name, expectedVersion },
) => {
  const request = { instanceId, name, updateMask: ['name'], expectedVersion };
  const answer = await platform.updateInstance(request, call);
  return { json: answer, text: facts(answer.instance as Instance) };
};

function facts({ id, name, createdAt, updatedAt, version }: Instance): string {
  return asFacts([
    ['Instance', id],
    ['Name', name],
    ['Created', asTime(createdAt)],
    ['Changed', asTime(updatedAt)],
    ['Version', version],
  ]);
}
