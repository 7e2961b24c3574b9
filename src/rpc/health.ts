import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthService,
  HealthCheckResponse_ServingStatus as Status,
} from '../../generated/proto/health/v1/health.js';
import { failureOf, toStatus } from './error-trailer.js';
import type { RpcServer } from './server.js';
import { CALLS } from './short-calls/frames.js';

export type ServingStatus = 'SERVING' | 'NOT_SERVING';

const QUICK_MS = 250;

/**
 * The standard health check of the whole server, open to all; a token that is sent is checked. Watch is
 * unsupported: it would keep state for unknown callers.
 */
export function addHealth(server: RpcServer, ask: () => Promise<ServingStatus>): void {
  let asked: Promise<ServingStatus> | undefined;
  let latest: ServingStatus | undefined;
  // Concurrent checks share one look.
  const askOnce = () => {
    asked ??= ask()
      .then((status) => {
        latest = status;
        return status;
      })
      .finally(() => {
        asked = undefined;
      });
    return asked;
  };
  /** The latest known status where the present one takes long. */
  const askQuickly = () => {
    const present = askOnce();
    return latest === undefined ? present : Promise.race([present, sleep(QUICK_MS, latest, { ref: false })]);
  };
  const check = async (
    { request }: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
    callback: sendUnaryData<HealthCheckResponse>,
  ) => {
    try {
      const status = await (request.service === CALLS ? askQuickly() : askOnce());
      callback(null, { status: Status[status] });
    } catch (error) {
      callback(toStatus(failureOf(error)));
    }
  };
  server.gate.rule(HealthService.check.path, { callers: [], openToStrangers: true });
  server.addService(HealthService, { check });
}
