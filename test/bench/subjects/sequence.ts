import { ok } from 'node:assert';
import { exchange } from '../../support/http-exchange.js';
import type { RunningService } from './service.js';

export interface ChangeItem {
  cursor: string;
  resource?: unknown;
}

export function changesPath(instanceIntegrationId: string): string {
  return `/v1/instance-integrations/${instanceIntegrationId}/changes`;
}

/** A page of the sequence of changes. */
export async function readChanges(
  { gatewayPort }: Pick<RunningService, 'gatewayPort'>,
  path: string,
  headers: Record<string, string>,
): Promise<ChangeItem[]> {
  const { status, body } = await exchange(gatewayPort, path, { headers });
  ok(status === 200, body.slice(0, 200));
  return JSON.parse(body) as ChangeItem[];
}
