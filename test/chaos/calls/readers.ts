import type { DemoFile } from '../../../src/cli/demo/demo-file.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import type { ServiceProcess } from '../../support/service-process.js';
import type { Turn } from './traffic.js';

interface Worker {
  workerId: string;
  path: string;
  key: string;
}

/** Each asks for another worker than the last, with the key that reaches it: an answer shows whose it is. */
export function readerOf(service: Pick<ServiceProcess, 'settings' | 'demo'>): Turn {
  const port = Number(service.settings.GATEWAY_PORT);
  const workers = workersOf(service.demo());
  let next = 0;
  return async (caller) => {
    const { workerId, path, key } = workers[next++ % workers.length] as Worker;
    const { body } = await caller.ask({ port, path, headers: { 'x-api-key': key } });
    if (body !== undefined && (JSON.parse(body) as { id: string }).id !== workerId) {
      caller.fault(`${path} was answered with ${body}`);
    }
  };
}

function workersOf({ apiKeys }: DemoFile): Worker[] {
  const connections = demoSeed.integrations.flatMap((integration) => integration.connections);
  return demoSeed.clients.flatMap(({ id: clientId, instance, workers }) => {
    const connection = connections.find((one) => one.configured && one.instance === instance)?.id ?? '';
    const key = apiKeys.find(({ instanceIntegrationIds }) =>
      instanceIntegrationIds.includes(connection),
    )?.key;
    return workers.map(({ id }) => ({
      workerId: id,
      path: `/v2/instance-integrations/${connection}/clients/${clientId}/workers/${id}`,
      key: key ?? '',
    }));
  });
}
