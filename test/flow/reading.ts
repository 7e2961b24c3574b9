import type { ServiceProcess } from '../support/service-process.js';

/** Reads the list of instance integrations the way an integrator does. */
export function readList(
  { gatewayUrl }: Pick<ServiceProcess, 'gatewayUrl'>,
  apiKey: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gatewayUrl}/v1/instance-integrations`, { headers: { 'x-api-key': apiKey, ...headers } });
}

export async function idsOf(response: Response): Promise<string[]> {
  return ((await response.json()) as { id: string }[]).map(({ id }) => id);
}
