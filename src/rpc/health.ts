import type { Server, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { service } from 'grpc-health-check';
import { asServiceError } from '../errors/service-error.js';
import { AUTHORIZATION_KEY, bearerTokenOf } from './call-metadata.js';
import type { Authenticate } from './callers.js';
import { toStatus } from './error-trailer.js';

export type ServingStatus = 'SERVING' | 'NOT_SERVING';

/**
 * The standard health check of the server as a whole. It is asked afresh each time, and by anybody; whoever shows a token learns whether that is good as well.
 * Watching is left out: it would keep state for strangers.
 */
export function addHealth(
  server: Server,
  authenticate: Authenticate,
  ask: () => Promise<ServingStatus>,
): void {
  const check = async (call: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>) => {
    try {
      if (call.metadata.get(AUTHORIZATION_KEY).length > 0) {
        await authenticate(bearerTokenOf(call.metadata));
      }
      callback(null, { status: await ask() });
    } catch (error) {
      callback(toStatus(asServiceError(error)));
    }
  };
  server.addService(service, { Check: check });
}
