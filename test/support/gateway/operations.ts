import { operations } from '../../../generated/openapi/gateway-operations.js';

/** Ids of the right shape, for paths that are asked for before a directory of the test. */
export const pathIds: Record<string, string> = {
  instanceIntegrationId: 'iin_HnuQOy4YQg1OdOSCDbMAkY',
  clientId: 'cli_4Fqnh5226raKAAEIfY2jwW',
  userId: 'usr_HCZONjGb2Vig7IXUdMsJi5',
  workerId: 'wrk_l50ycP5H6CnQHxa7Xt2y3d',
};

export interface GatewayOperation {
  operationId: string;
  /** The path as the contract has it, with the query that it requires. */
  template: string;
  /** Whether it takes `limit` and `cursor`. */
  paged: boolean;
}

const PAGED = ['listUsers', 'listWorkersV2'];
const REQUIRED_QUERIES: Record<string, string> = { getChangesDigest: '?clientId={clientId}' };

export const gatewayOperations: readonly GatewayOperation[] = Object.entries(operations).map(
  ([operationId, { path }]) => ({
    operationId,
    template: `${path}${REQUIRED_QUERIES[operationId] ?? ''}`,
    paged: PAGED.includes(operationId),
  }),
);

export function operationNamed(operationId: string): GatewayOperation {
  const found = gatewayOperations.find((operation) => operation.operationId === operationId);
  if (!found) {
    throw new Error(`there is no operation ${operationId}`);
  }
  return found;
}

/** The names of the ids in path and query, in their order. */
export function idNamesOf({ template }: GatewayOperation): string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

export function isInQuery({ template }: GatewayOperation, name: string): boolean {
  const [path = ''] = template.split('?');
  return !path.includes(`{${name}}`);
}

/** The path with these ids in its places, and more of a query. */
export function pathOf(
  { template }: GatewayOperation,
  ids: Record<string, string> = pathIds,
  query?: string,
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
  return query === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
}
