import type { Command } from 'commander';
import type {
  InstanceIntegration,
  InstanceIntegrationStatus,
  ListInstanceIntegrationsRequest,
} from '../../../../generated/proto/integration/operator/v1/connections.js';
import type { Integration } from '../../../../generated/proto/integration/operator/v1/integrations.js';
import { confirmation } from '../confirm.js';
import { idOf } from '../options.js';
import { asEnum, asTime, asWord } from '../output/table.js';
import { addGroup, addVerb, EXPECTED_VERSION, LIMIT, YES } from './group.js';
import type { Action, Session, Shown } from './session.js';
import { CHANGES, type Facts, showing, shownPages, updateMaskOf } from './showing.js';

export function addIntegrationCommands(program: Command): void {
  const group = addGroup(
    program,
    'integration',
    'Integrations and the instances they are connected to',
    'integration create "Brightledger Accounting"',
    'integration connect itg_… ins_… --configure',
    'integration connections itg_…',
  );
  addVerb(group, 'create', create, {
    about: 'Register an integration',
    example: '"Brightledger Accounting"',
  })
    .argument('<name>', 'its name')
    .option('--contact-email <address>', 'where the platform mails warnings about it');
  addVerb(group, 'list', list, { about: 'List the integrations, newest first', example: '--json' }).option(
    ...LIMIT,
  );
  addVerb(group, 'show <integration>', show, { about: 'Show one integration with its connections' });
  addVerb(group, 'update <integration>', update, {
    about: 'Rename an integration, or change its contact',
    example: 'itg_… --contact-email webhooks@brightledger.example',
  })
    .option('--name <name>', 'its new name')
    .option('--contact-email <address>', 'where the platform mails warnings about it; empty removes it')
    .option(...EXPECTED_VERSION);
  addConnectionVerbs(group);
}

const shown = showing('integration', {
  Integration: ({ id }) => id,
  Name: ({ name }) => name,
  Contact: ({ contactHint }) => contactHint || '-',
  ...CHANGES,
} satisfies Facts<Integration>);

const create: Action<{ contactEmail?: string }> = async ({ operator }, [name], { contactEmail }) =>
  shown(await operator.createIntegration({ name, contactEmail }));

const list: Action = async ({ operator }, _, { limit }) =>
  shownPages(limit, 'integrations', (page) => operator.listIntegrations(page), {
    id: ({ id }) => id,
    name: ({ name }) => name,
    created: ({ createdAt }) => asTime(createdAt),
  });

const show: Action = async (session, [integrationId]) =>
  withConnections(
    session,
    { integrationId },
    shown(await session.operator.getIntegration({ integrationId })),
  );

const update: Action<{ contactEmail?: string }> = async (
  { operator },
  [integrationId],
  { name, contactEmail, expectedVersion },
) => {
  const advice = 'Nothing to change: give --name or --contact-email.';
  const updateMask = updateMaskOf({ name, contactEmail }, advice);
  const fields = { name, contactEmail: contactEmail || undefined };
  return shown(await operator.updateIntegration({ integrationId, ...fields, updateMask, expectedVersion }));
};

/** The verbs of `integration` that are about its connections to instances. */
function addConnectionVerbs(group: Command): void {
  addVerb(group, 'connect', connect, {
    about: 'Connect an integration to an instance',
    example: 'itg_… ins_… --configure',
  })
    .argument('<integration>', 'id of the integration', idOf('itg'))
    .argument('<instance>', 'id of the instance', idOf('ins'))
    .option('--configure', 'set it up at once, so that it answers reads');
  addVerb(group, 'connections', connections, { about: 'List connections, newest first', example: 'itg_…' })
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

const shownConnection = showing('instanceIntegration', {
  Connection: ({ id }) => id,
  Integration: ({ integrationId }) => integrationId,
  Instance: ({ instanceId, instanceName }) => `${instanceId} ${instanceName}`,
  Status: ({ status }) => asWord(status, STATUS),
  ...CHANGES,
} satisfies Facts<InstanceIntegration>);

const STATUS = 'INSTANCE_INTEGRATION_STATUS_';

const connect: Action<{ configure?: boolean }> = async (session, [integrationId, instanceId], options) => {
  const answer = await session.operator.connectInstance({ integrationId, instanceId });
  return options.configure
    ? setStatus(session, answer.instanceIntegration?.id, 'configured')
    : shownConnection(answer);
};

const connections: Action<object, [integration?: string]> = async (
  session,
  [integrationId],
  { instance: instanceId, limit },
) => shownConnections(session, { integrationId, instanceId }, limit);

const configure: Action = (session, [id]) => setStatus(session, id, 'configured');

const unconfigure: Action = (session, [id]) => setStatus(session, id, 'not-configured');

async function setStatus({ operator }: Session, instanceIntegrationId = '', word: string): Promise<Shown> {
  const status = asEnum<InstanceIntegrationStatus>(word, STATUS);
  return shownConnection(await operator.configureInstanceIntegration({ instanceIntegrationId, status }));
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
