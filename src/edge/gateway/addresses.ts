import { type OperationId, operations } from '../../../generated/openapi/gateway-operations.js';

/** Builds full addresses of operations from the path templates of the contract. */
export function addressesUnder(gatewayUrl: string) {
  return (operationId: OperationId, params: object, query: object): string => {
    const values = params as Record<string, string>;
    const path = operations[operationId].path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return `${gatewayUrl}${path}?${search}`;
  };
}
