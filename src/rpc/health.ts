import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { service } from 'grpc-health-check';
import { asServiceError } from '../errors/service-error.js';
import { toStatus } from './error-trailer.js';
import type { RpcServer } from './server.js';

export type ServingStatus = 'SERVING' | 'NOT_SERVING';

/**
 * The standard health check of the whole server, open to all; a token that is sent is checked. Watch is
 * unsupported: it would keep state for unknown callers.
 */
export function addHealth(server: RpcServer, ask: () => Promise<ServingStatus>): void {
  let asked: Promise<ServingStatus> | undefined;
  // Concurrent checks share one look.
  const askOnce = () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return asked;
  };
  const check = async (_: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>) => {
    try {
      callback(null, { status: await askOnce() });
    } catch (error) {
      callback(toStatus(asServiceError(error)));
    }
  };
  server.gate.rule((service.Check as { path: string }).path, { callers: [], openToStrangers: true });
  server.addService(service, { Check: check });
}
