import {
  type InstanceIntegration,
  InstanceIntegrationStatus as Status,
} from '../../../../generated/proto/integration/operator/v1/connections.js';
import { confirmation } from '../confirm.js';
import { asFacts, asTime, asWord } from '../output/table.js';
import { listed, shownList } from './listing.js';
import type { Session, Shown } from './session.js';

export async function connect(
  session: Session,
  [integrationId = '', instanceId = '']: readonly string[],
  options: { configure?: boolean },
): Promise<Shown> {
  const answer = await session.operator.connectInstance({ integrationId, instanceId }, session.call);
  const instanceIntegration = answer.instanceIntegration as InstanceIntegration;
  return options.configure ? setStatus(session, instanceIntegration.id, Status.CONFIGURED) : shown(answer);
}

export async function connections(
  session: Session,
  [integrationId]: readonly (string | undefined)[],
  { instance, limit }: { instance?: string; limit?: number },
): Promise<Shown> {
  return instanceIntegrationTable(
    await instanceIntegrationsOf(session, { integrationId, instanceId: instance }, limit),
  );
}

export function configure(session: Session, [id = '']: readonly string[]): Promise<Shown> {
  return setStatus(session, id, Status.CONFIGURED);
}

export function unconfigure(session: Session, [id = '']: readonly string[]): Promise<Shown> {
  return setStatus(session, id, Status.NOT_CONFIGURED);
}

export async function disconnect(
  { operator, call }: Session,
  [instanceIntegrationId = '']: readonly string[],
  options: { yes?: boolean },
): Promise<Shown> {
  const confirm = confirmation(options);
  const { instanceIntegration } = await operator.getInstanceIntegration({ instanceIntegrationId }, call);
  const { integrationId, instanceName } = instanceIntegration as InstanceIntegration;
  await confirm(`Disconnect ${integrationId} from ${instanceName}, and delete its subscriptions there?`);
  const answer = await operator.disconnectInstance({ instanceIntegrationId }, call);
  const text = `Disconnected. Subscriptions that went with it: ${answer.deletedSubscriptions}.`;
  return { json: answer, text };
}

export function instanceIntegrationsOf(
  { operator, call }: Session,
  filter: { integrationId?: string; instanceId?: string },
  limit?: number,
): Promise<{ rows: InstanceIntegration[]; more: boolean }> {
  return listed(limit, async (page) => {
    const request = { ...filter, status: Status.UNSPECIFIED, ...page };
    const { instanceIntegrations, nextPageToken } = await operator.listInstanceIntegrations(request, call);
    return { rows: instanceIntegrations, nextPageToken };
  });
}

export function instanceIntegrationTable(found: {
  rows: readonly InstanceIntegration[];
  more: boolean;
}): Shown {
  return shownList(
    found,
    ['connection', 'integration', 'instance', 'name', 'status'],
    ({ id, integrationId, instanceId, instanceName, status }) => [
      id,
      integrationId,
      instanceId,
      instanceName,
      asWord(status, 'INSTANCE_INTEGRATION_STATUS_'),
    ],
  );
}

async function setStatus({ operator, call }: Session, id: string, status: Status): Promise<Shown> {
  return shown(await operator.configureInstanceIntegration({ instanceIntegrationId: id, status }, call));
}

function shown(answer: { instanceIntegration?: InstanceIntegration | undefined }): Shown {
  const instanceIntegration = answer.instanceIntegration as InstanceIntegration;
  const text = asFacts([
    ['Connection', instanceIntegration.id],
    ['Integration', instanceIntegration.integrationId],
    ['Instance', `${instanceIntegration.instanceId} ${instanceIntegration.instanceName}`],
    ['Status', asWord(instanceIntegration.status, 'INSTANCE_INTEGRATION_STATUS_')],
    ['Created', asTime(instanceIntegration.createdAt)],
    ['Changed', asTime(instanceIntegration.updatedAt)],
    ['Version', instanceIntegration.version],
  ]);
  return { json: answer, text };
}
