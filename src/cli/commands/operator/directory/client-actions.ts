import type { Client } from '../../../../../generated/proto/integration/platform/v1/clients.js';
import { printableLine } from '../../output/printable.js';
import { asFacts, asTime } from '../../output/table.js';
import { listed, shownList } from '../listing.js';
import type { Action } from '../session.js';
import { addressLine } from './people.js';

export const list: Action<{ instance?: string; limit: number }> = async (
  { platform, call },
  _,
  { instance, limit },
) => {
  const found = await listed(limit, 'clients', (page) =>
    platform.listClients({ instanceId: instance, ...page }, call),
  );
  return shownList(found, ['client', 'name', 'instance', 'created'], (client) => [
    client.id,
    printableLine(client.name),
    client.instanceId,
    asTime(client.createdAt),
  ]);
};

export const show: Action = async ({ platform, call }, [clientId = '']) => {
  const answer = await platform.getClient({ clientId }, call);
  const client = answer.client as Client;
  const text = asFacts([
    ['Client', client.id],
    ['Name', printableLine(client.name)],
    ['Instance', client.instanceId],
    ['Address', addressLine(client.address)],
    ['Created', asTime(client.createdAt)],
    ['Changed', asTime(client.updatedAt)],
    ['Version', client.version],
  ]);
  return { json: answer, text };
};
