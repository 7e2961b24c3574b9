import {
  type InstanceIntegration,
  InstanceIntegrationStatus as Status,
} from '../../../../generated/proto/integration/operator/v1/connections.js';
import { confirmation } from '../confirm.js';
import { asFacts, asTime, asWord } from '../output/table.js';
import { listed, shownList } from './listing.js';
import type { Action, Session, Shown } from './session.js';

export const connect: Action<{ configure?: boolean }> = async (
  session,
  [integrationId = '', instanceId = ''],
  options,
) => {
  const answer = await session.operator.connectInstance({ integrationId, instanceId }, session.call);
  const instanceIntegration = answer.instanceIntegration as InstanceIntegration;
  return options.configure ? setStatus(session, instanceIntegration.id, Status.CONFIGURED) : shown(answer);
};

export const connections: Action<{ instance?: string; limit?: number }> = async (
  session,
  [integrationId],
  { instance, limit },
) => {
  return instanceIntegrationTable(
    await instanceIntegrationsOf(session, { integrationId, instanceId: instance }, limit),
  );
};

export const configure: Action = (session, [id = '']) => setStatus(session, id, Status.CONFIGURED);

export const unconfigure: Action = (session, [id = '']) => setStatus(session, id, Status.NOT_CONFIGURED);

export const disconnect: Action<{ yes?: boolean }> = async (
  { operator, call },
  [instanceIntegrationId = ''],
  options,
) => {
  const confirm = confirmation(options);
  const { instanceIntegration } = await operator.getInstanceIntegration({ instanceIntegrationId }, call);
  const { integrationId, instanceName } = instanceIntegration as InstanceIntegration;
  await confirm(`Disconnect ${integrationId} from ${instanceName}, and delete its subscriptions there?`);
  const answer = await operator.disconnectInstance({ instanceIntegrationId }, call);
  const text = `Disconnected. Subscriptions that went with it: ${answer.deletedSubscriptions}.`;
  return { json: answer, text };
};

export function instanceIntegrationsOf(
  { operator, call }: Session,
  filter: { integrationId?: string; instanceId?: string },
  limit?: number,
): Promise<{ rows: InstanceIntegration[]; more: boolean }> {
  return listed(limit, 'instanceIntegrations', (page) =>
    operator.listInstanceIntegrations({ ...filter, status: Status.UNSPECIFIED, ...page }, call),
  );
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
