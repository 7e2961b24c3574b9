import { eventually } from '../support/eventually.js';
import type { ServiceProcess } from '../support/service-process.js';

/** Reads the list of instance integrations the way an integrator does. */
export function readList(
  { gatewayUrl }: Pick<ServiceProcess, 'gatewayUrl'>,
  apiKey: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gatewayUrl}/v1/instance-integrations`, { headers: { 'x-api-key': apiKey, ...headers } });
}

/** The same, asked again while the service is too busy. */
export function listed(...asked: Parameters<typeof readList>): Promise<Response> {
  return eventually('a list', async () => {
    const response = await readList(...asked);
    return response.status !== 503 && response;
  });
}

export async function idsOf(response: Response): Promise<string[]> {
  return ((await response.json()) as { id: string }[]).map(({ id }) => id);
}
