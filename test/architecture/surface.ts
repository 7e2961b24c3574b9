import type { Document } from 'openapi-backend';
import { CallServiceService } from '../../generated/proto/integration/calls/v1/calls.js';
import { methodsWithinInstance, personalAnswers, repeatableMethods } from '../../generated/proto/rights.js';
import * as gatewayHandlers from '../../src/edge/gateway/index.js';
import * as signOnHandlers from '../../src/edge/sign-on/index.js';
import { isWatched } from '../../src/rpc/call-audit.js';
import { callersOf } from '../../src/rpc/callers.js';
import { allServices } from '../../src/rpc/domain-server/index.js';
import { serve, serviceNameOf } from '../../src/rpc/handlers.js';
import { contractDocument } from '../support/contract/contract-document.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

export interface HttpOperation {
  operationId: string;
  method: string;
  path: string;
  security: string;
  statuses: string[];
  implemented: boolean;
}

export function httpOperations(api: 'gateway' | 'sign-on'): HttpOperation[] {
  const document = contractDocument(api);
  const handlers: object = api === 'gateway' ? gatewayHandlers : signOnHandlers;
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item?.[method];
      if (!operation) {
        return [];
      }
      const operationId = operation.operationId ?? '';
      return [
        {
          operationId,
          method: method.toUpperCase(),
          path,
          security: securityOf(operation.security ?? document.security),
          statuses: Object.keys(operation.responses ?? {}),
          implemented: operationId in handlers,
        },
      ];
    }),
  );
}

function securityOf(requirements: Document['security'] = []): string {
  const ways = requirements.map((requirement) => Object.keys(requirement).join(' and ') || 'nobody asked');
  return ways.join(' or ') || 'nobody asked';
}

export interface RpcMethod {
  service: string;
  name: string;
  callers: readonly string[];
  /** Whether the audit log has each read of it. */
  recorded: boolean;
  /** Whether a channel calls it again when the stream that it was in breaks. */
  repeatable: boolean;
  kind: string;
  implemented: boolean;
}

/** All services, with nothing behind them: for their shape, and for calls that end before a handler. */
export function hollowServices() {
  return allServices({
    directory: {},
    maintenance: {},
    platform: { unitOfWork: {} },
    operator: {},
    signOn: {},
    webhooks: { unitOfWork: { rows: {} } },
    deliveries: {},
  } as never);
}

export function rpcMethods(): RpcMethod[] {
  const calls = serve(CallServiceService, { exchange: async function* () {} });
  return [...hollowServices(), calls].flatMap(({ definition, handlers }) =>
    Object.entries(definition).map(([name, { path, requestStream, responseStream }]) => ({
      service: serviceNameOf(definition),
      name: path.split('/').at(-1) ?? '',
      callers: callersOf(path).map((caller) =>
        caller === 'platform' && methodsWithinInstance.has(path) ? 'platform (also of one instance)' : caller,
      ),
      repeatable: repeatableMethods.has(path),
      recorded: personalAnswers.has(path) && callersOf(path).some(isWatched),
      kind: `${requestStream ? 'stream' : 'one'} -> ${responseStream ? 'stream' : 'one'}`,
      implemented: handlers[name] !== undefined,
    })),
  );
}

export function asTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
