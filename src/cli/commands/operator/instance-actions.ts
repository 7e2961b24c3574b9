import type { Instance } from '../../../../generated/proto/integration/platform/v1/instances.js';
import { asFacts, asTime } from '../output/table.js';
import { instanceIntegrationsOf, instanceIntegrationTable } from './instance-integration-actions.js';
import { listed, shownList } from './listing.js';
import type { Session, Shown } from './session.js';

export async function create({ platform, call }: Session, [name = '']: readonly string[]): Promise<Shown> {
  const answer = await platform.createInstance({ name }, call);
  return { json: answer, text: facts(answer.instance as Instance) };
}

export async function list(
  { platform, call }: Session,
  _: readonly string[],
  { limit }: { limit?: number },
): Promise<Shown> {
  const found = await listed(limit, async (page) => {
    const { instances, nextPageToken } = await platform.listInstances(page, call);
    return { rows: instances, nextPageToken };
  });
  return shownList(found, ['id', 'name', 'created'], ({ id, name, createdAt }) => [
    id,
    name,
    asTime(createdAt),
  ]);
}

export async function show(session: Session, [instanceId = '']: readonly string[]): Promise<Shown> {
  const answer = await session.platform.getInstance({ instanceId }, session.call);
  const instanceIntegrations = await instanceIntegrationsOf(session, { instanceId });
  const text = `${facts(answer.instance as Instance)}\n\n${instanceIntegrationTable(instanceIntegrations).text}`;
  return { json: { ...answer, instanceIntegrations: instanceIntegrations.rows }, text };
}

export async function update(
  { platform, call }: Session,
  [instanceId = '']: readonly string[],
  { name, expectedVersion }: { name: string; expectedVersion?: string },
): Promise<Shown> {
  const request = { instanceId, name, updateMask: ['name'], expectedVersion };
  const answer = await platform.updateInstance(request, call);
  return { json: answer, text: facts(answer.instance as Instance) };
}

function facts({ id, name, createdAt, updatedAt, version }: Instance): string {
  return asFacts([
    ['Instance', id],
    ['Name', name],
    ['Created', asTime(createdAt)],
    ['Changed', asTime(updatedAt)],
    ['Version', version],
  ]);
}
