import { join } from 'node:path';
import { connectionIds } from '../../../flow/webhooks/webhook-environment.js';
import { byTypeAndId, type Copied } from '../../../sdk/drivers/changing-gateway.js';
import { exchange } from '../../../support/http-exchange.js';
import type { ServiceProcess } from '../../../support/service-process.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { untilAnswered } from '../../../support/turned-away.js';

/** A change as the gateway writes it. */
interface Sent {
  cursor: string;
  entity: { type: string; id: string };
  clientId: string;
  version: number;
  resource: unknown;
}

/** Call it where a group of tests is described: it answers the path of a file that does not exist yet. */
export function newFiles(): () => string {
  const newDirectory = temporaryDirectories();
  return () => join(newDirectory(), 'copy.sqlite');
}

/** The settings of a person in the folder of the demo. */
export const atDemo = ({ dataDir }: ServiceProcess) => ({ DATA_DIR: dataDir, ENVIRONMENT: 'demo' });

/** What a copy of Harborlight has to have, as the gateway says it now. */
export async function atGateway(service: ServiceProcess): Promise<Copied[]> {
  const headers = { 'x-api-key': service.demo().apiKeys[0]?.key ?? '' };
  const port = Number(service.settings.GATEWAY_PORT);
  const path = `/v1/instance-integrations/${connectionIds.harborlight}/changes`;
  const found: Copied[] = [];
  for (let query = ''; ; ) {
    const { body } = await untilAnswered(() => exchange(port, `${path}${query}`, { headers }));
    const sent = JSON.parse(body) as Sent[];
    const last = sent.at(-1);
    if (!last) {
      return found.sort(byTypeAndId);
    }
    for (const { entity, clientId, version, resource } of sent) {
      found.push({ ...entity, clientId, version, resource });
    }
    query = `?after=${last.cursor}`;
  }
}
