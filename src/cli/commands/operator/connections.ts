import type { Command } from 'commander';
import type {
  InstanceIntegration,
  InstanceIntegrationStatus,
  ListInstanceIntegrationsRequest,
} from '../../../../generated/proto/integration/operator/v1/connections.js';
import { confirmation } from '../confirm.js';
import { idOf } from '../options.js';
import { asEnum, asTime, asWord } from '../output/table.js';
import { addVerb, LIMIT, YES } from './group.js';
import type { Action, Session, Shown } from './session.js';
import { showing, shownPages } from './showing.js';

/** The verbs of `integration` that are about its connections to instances. */
export function addConnectionVerbs(group: Command): void {
  addVerb(group, 'connect', connect, {
    about: 'Connect an integration to an instance',
    example: 'itg_… ins_… --configure',
  })
    .argument('<integration>', 'id of the integration', idOf('itg'))
    .argument('<instance>', 'id of the instance', idOf('ins'))
    .option('--configure', 'set it up at once, so that it answers reads');
  addVerb(group, 'connections', list, { about: 'List connections, newest first', example: 'itg_…' })
    .argument('[integration]', 'only those of this integration', idOf('itg'))
    .option('--instance <instance>', 'only those of this instance', idOf('ins'))
    .option(...LIMIT);
  addVerb(group, 'configure <connection>', configure, {
    about: 'Set a connection up: it answers reads, and subscriptions that `unconfigure` disabled are enabled',
  });
  addVerb(group, 'unconfigure <connection>', unconfigure, {
    about:
      'Undo `configure`: reads of its clients answer 404, and its subscriptions are disabled; only `event replay` sends what they miss',
  });
  addVerb(group, 'disconnect <connection>', disconnect, {
    about: 'End a connection and delete its subscriptions',
    example: 'iin_… --yes',
  }).option(...YES);
}

const shown = showing('instanceIntegration', (connection: InstanceIntegration) => [
  ['Connection', connection.id],
  ['Integration', connection.integrationId],
  ['Instance', `${connection.instanceId} ${connection.instanceName}`],
  ['Status', asWord(connection.status, STATUS)],
  ['Created', asTime(connection.createdAt)],
  ['Changed', asTime(connection.updatedAt)],
  ['Version', connection.version],
]);

const STATUS = 'INSTANCE_INTEGRATION_STATUS_';

const connect: Action<{ configure?: boolean }> = async (session, [integrationId, instanceId], options) => {
  const answer = await session.operator.connectInstance({ integrationId, instanceId });
  return options.configure ? setStatus(session, answer.instanceIntegration?.id, 'configured') : shown(answer);
};

const list: Action<object, [integration?: string]> = async (
  session,
  [integrationId],
  { instance: instanceId, limit },
) => shownConnections(session, { integrationId, instanceId }, limit);

const configure: Action = (session, [id]) => setStatus(session, id, 'configured');

const unconfigure: Action = (session, [id]) => setStatus(session, id, 'not-configured');

async function setStatus({ operator }: Session, instanceIntegrationId = '', word: string): Promise<Shown> {
  const status = asEnum<InstanceIntegrationStatus>(word, STATUS);
  return shown(await operator.configureInstanceIntegration({ instanceIntegrationId, status }));
}

const disconnect: Action = async ({ operator }, [instanceIntegrationId], options) => {
  const confirm = confirmation(options);
  const { instanceIntegration } = await operator.getInstanceIntegration({ instanceIntegrationId });
  const { integrationId, instanceName } = instanceIntegration as InstanceIntegration;
  await confirm(`Disconnect ${integrationId} from ${instanceName}, and delete its subscriptions there?`);
  const answer = await operator.disconnectInstance({ instanceIntegrationId });
  const text = `Disconnected. Subscriptions that went with it: ${answer.deletedSubscriptions}.`;
  return { json: answer, text };
};

type Ends = Pick<ListInstanceIntegrationsRequest, 'integrationId' | 'instanceId'>;

/** An integration or instance, followed by its connections. */
export async function withConnections(session: Session, ends: Ends, { json, text }: Shown): Promise<Shown> {
  const connections = await shownConnections(session, ends);
  return {
    json: { ...(json as object), instanceIntegrations: connections.json },
    text: `${text}\n\n${connections.text}`,
  };
}

function shownConnections({ operator, platform }: Session, ends: Ends, limit?: number): Promise<Shown> {
  const { integrationId, instanceId } = ends;
  const filter = { ...ends, status: asEnum<InstanceIntegrationStatus>(undefined, STATUS) };
  return shownPages(
    limit,
    'instanceIntegrations',
    (page) => operator.listInstanceIntegrations({ ...filter, ...page }),
    {
      connection: ({ id }) => id,
      integration: ({ integrationId }) => integrationId,
      instance: ({ instanceId }) => instanceId,
      name: ({ instanceName }) => instanceName,
      status: ({ status }) => asWord(status, STATUS),
    },
    async () => {
      await (integrationId && operator.getIntegration({ integrationId }));
      await (instanceId && platform.getInstance({ instanceId }));
    },
  );
}
