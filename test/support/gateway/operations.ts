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
  /** The path as the contract has it. */
  template: string;
  /** Whether it takes `limit` and `cursor`. */
  paged: boolean;
}

const PAGED = ['listUsers', 'listWorkersV2'];

export const gatewayOperations: readonly GatewayOperation[] = Object.entries(operations).map(
  ([operationId, { path }]) => ({ operationId, template: path, paged: PAGED.includes(operationId) }),
);

export function operationNamed(operationId: string): GatewayOperation {
  const found = gatewayOperations.find((operation) => operation.operationId === operationId);
  if (!found) {
    throw new Error(`there is no operation ${operationId}`);
  }
  return found;
}

/** The names of the ids in the path, in their order. */
export function idNamesOf({ template }: GatewayOperation): string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** The path with these ids in its places. */
export function pathOf({ template }: GatewayOperation, ids: Record<string, string> = pathIds): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
}
