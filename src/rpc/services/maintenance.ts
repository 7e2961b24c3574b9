import {
  MaintenanceServiceService,
  PurgedKind,
} from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import type { Clock } from '../../domain/clock.js';
import { type PurgeStore, purgeExpired, type Retention } from '../../domain/maintenance/purge.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { serve } from '../handlers.js';

export interface MaintenanceDependencies {
  purge: PurgeStore;
  retention: Retention;
  clock: Clock;
}

const MAX_BATCH = 1_000;

export function maintenanceService({ purge, retention, clock }: MaintenanceDependencies) {
  return serve(MaintenanceServiceService, ['service'], {
    purgeExpired: async ({ limit }) => {
      if (limit < 1 || limit > MAX_BATCH) {
        const fieldViolations = [{ path: 'limit', message: `must be between 1 and ${MAX_BATCH}` }];
        throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The limit is out of bounds.', { fieldViolations });
      }
      const { apiKeys, serviceTokens, more } = await purgeExpired(purge, retention, clock, limit);
      const counts = [
        { kind: PurgedKind.API_KEY, count: apiKeys },
        { kind: PurgedKind.SERVICE_TOKEN, count: serviceTokens },
      ];
      return { counts: counts.filter(({ count }) => count > 0), more };
    },
  });
}
