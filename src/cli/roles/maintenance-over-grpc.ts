import {
  MaintenanceServiceService,
  type PurgedKind,
  type SigningKeyStep,
} from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import type { Maintenance } from '../../../workflows/activities/maintenance.js';
import type { CodeMinute, CodeMinuteList } from '../../../workflows/code-minutes.js';
import type { RpcChannel } from '../../rpc/client.js';

/** Longer than any batch takes, and shorter than Temporal's limit for a step. */
const STEP_DEADLINE_MS = 20_000;

/** The maintenance calls of the activities. */
export function maintenanceOver(domain: RpcChannel): Maintenance {
  const client = domain.clientOf(MaintenanceServiceService);
  const deadlineMs = STEP_DEADLINE_MS;
  return {
    purgeExpired: async (request, call) => {
      const { counts, more, otherRunActive } = await client.purgeExpired(request, { ...call, deadlineMs });
      const deleted = Object.fromEntries(counts.map(({ kind, count }) => [nameOf(kind), count]));
      return { deleted, more, otherRunActive };
    },
    expireAuthorizationCodes: async (request, call) => {
      const answer = await client.expireAuthorizationCodes(request, { ...call, deadlineMs });
      const { issued, redeemed, expired, retryInMs = null } = answer;
      return { issued, redeemed, expired, retryInMs };
    },
    advanceSigningKeys: async (call) => {
      const { changes, nextDueAt } = await client.advanceSigningKeys({}, { ...call, deadlineMs });
      return {
        changes: changes.map(({ kid, step }) => ({ kid, step: nameOf(step) })),
        nextDueAt: nextDueAt?.toISOString() ?? null,
      };
    },
  };
}

/** The minutes for which the worker starts expiry workflows. */
export function codeMinutesOver(domain: RpcChannel): CodeMinuteList {
  const client = domain.clientOf(MaintenanceServiceService);
  return {
    toWatch: async (limit, call) => {
      const { minutes } = await client.listCodeMinutesToWatch({ limit }, call);
      return minutes.flatMap(({ minute, expiresAt, expiresInMs = 0 }): CodeMinute[] =>
        minute && expiresAt ? [{ minute, expiresAt, expiresInMs }] : [],
      );
    },
    markWatched: async (minutes, call) => {
      await client.markCodeMinutesWatched({ minutes }, call);
    },
  };
}

/** `PURGED_KIND_AUTHORIZATION_CODE` becomes `authorization code`. */
function nameOf(value: PurgedKind | SigningKeyStep): string {
  return value
    .replace(/^(PURGED_KIND|SIGNING_KEY_STEP)_/, '')
    .replaceAll('_', ' ')
    .toLowerCase();
}
