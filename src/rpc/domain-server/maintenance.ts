import { MaintenanceServiceService } from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import type { Clock } from '../../domain/clock.js';
import {
  type ExpiringKind,
  type PurgeStore,
  purgeExpired,
  type Retention,
} from '../../domain/maintenance/purge.js';
import { invalidField } from '../../errors/service-error.js';
import { serve } from '../handlers.js';
import { type CodeMinuteDependencies, codeMinuteMethods } from './code-minutes.js';
import { type KeyRotationDependencies, keyRotationMethods } from './key-rotation.js';
import { purgedCounts } from './purged-counts.js';

export interface MaintenanceDependencies extends CodeMinuteDependencies, KeyRotationDependencies {
  purge: PurgeStore;
  retention: Retention;
  /** Called after rows were removed. */
  onPurged?: (kind: ExpiringKind, rows: number) => void;
  clock: Clock;
}

const MAX_BATCH = 1_000;

export function maintenanceService({
  purge,
  retention,
  onPurged = () => undefined,
  clock,
  codeMinutes,
  signingKeys,
}: MaintenanceDependencies) {
  return serve(MaintenanceServiceService, {
    purgeExpired: async ({ limit, run, unlessEndedWithinSeconds }) => {
      if (limit < 1 || limit > MAX_BATCH) {
        throw invalidField('The limit is out of bounds.', 'limit', `must be between 1 and ${MAX_BATCH}`);
      }
      const batch = {
        ...{ limit, run },
        ...(unlessEndedWithinSeconds && { unlessEndedWithinMs: unlessEndedWithinSeconds * 1_000 }),
      };
      const { removed, more, isOtherActive } = await purgeExpired(purge, retention, clock, batch);
      for (const [kind, rows] of Object.entries(removed)) {
        onPurged(kind as ExpiringKind, rows);
      }
      return { counts: purgedCounts(removed), more, otherRunActive: isOtherActive };
    },
    ...codeMinuteMethods({ codeMinutes, clock }),
    ...keyRotationMethods({ signingKeys }),
  });
}
