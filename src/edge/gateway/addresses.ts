import { type OperationId, operations } from '../../../generated/openapi/gateway-operations.js';

/** Builds full addresses of operations from the path templates of the contract. */
export function addressesUnder(gatewayUrl: string) {
  return (operationId: OperationId, params: object, query: object): string => {
    const values = params as Record<string, string>;
    const path = operations[operationId].path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
    return `${gatewayUrl}${path}?${new URLSearchParams(query as Record<string, string>)}`;
  };
}
