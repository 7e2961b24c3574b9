import {
  MaintenanceServiceService,
  PurgedKind,
  SigningKeyStep,
} from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import {
  type ExpiringKind,
  type PurgeClocks,
  type PurgeStore,
  purgeExpired,
  type Retention,
} from '../../domain/maintenance/purge.js';
import { expireCodesOf, MINUTE_MS } from '../../domain/sign-on/authorization/codes.js';
import { advanceSigningKeys, type KeyRotation } from '../../domain/sign-on/keys/key-rotation.js';
import type { SignOnChanges, SignOnRows } from '../../domain/sign-on/sign-on.js';
import type { UnitOfWork } from '../../domain/unit-of-work.js';
import { invalidField } from '../../errors/service-error.js';
import { serve } from '../handlers.js';
import { assertBetween, assertNotMore, boundedMs, words } from './fields.js';

export interface MaintenanceDependencies extends PurgeClocks {
  purge: PurgeStore;
  retention: Retention;
  onPurged?: (kind: ExpiringKind, rows: number) => void;
  signOn: UnitOfWork<Pick<SignOnChanges, 'codeMinutes'>, Pick<SignOnRows, 'codeMinutes'>>;
  signingKeys: KeyRotation;
}

const MAX_BATCH = 1_000;
const MOST_MINUTES = 1_000;

const SCHEDULE = { type: 'schedule', id: 'signing-key-rotation' };

/** A schedule never withdraws keys: only an operator does. */
const STEPS = { ...words(SigningKeyStep), withdrawn: SigningKeyStep.RETIRED };

const PURGED_KINDS: Record<ExpiringKind, PurgedKind> = {
  ...words(PurgedKind),
  idle_session: PurgedKind.SESSION,
  email_change: PurgedKind.LINK,
};

export function maintenanceService({
  purge,
  retention,
  onPurged,
  clock,
  removalTime,
  signOn,
  signingKeys,
}: MaintenanceDependencies) {
  return serve(MaintenanceServiceService, {
    purgeExpired: async ({ limit, run, unlessEndedWithinSeconds }) => {
      assertBetween(limit, 1, MAX_BATCH, 'limit');
      const batch = {
        ...{ limit, run, onRemoved: onPurged },
        ...(unlessEndedWithinSeconds && { unlessEndedWithinMs: unlessEndedWithinSeconds * 1_000 }),
      };
      const { removed, more, isLeftToOther } = await purgeExpired(
        purge,
        retention,
        { clock, removalTime },
        batch,
      );
      const counts = new Map<PurgedKind, number>();
      for (const [kind, rows] of Object.entries(removed)) {
        const purged = PURGED_KINDS[kind as ExpiringKind];
        counts.set(purged, (counts.get(purged) ?? 0) + rows);
      }
      return {
        counts: [...counts].map(([kind, count]) => ({ kind, count })),
        more,
        otherRunActive: isLeftToOther,
      };
    },
    listCodeMinutesToWatch: async ({ limit }) => {
      assertBetween(limit, 1, MOST_MINUTES, 'limit');
      const minutes = await signOn.rows.codeMinutes.toWatch(limit);
      const now = clock();
      return {
        minutes: minutes.map((each) => ({ ...each, expiresInMs: boundedMs(each.expiresAt - now) })),
      };
    },
    markCodeMinutesWatched: async ({ minutes }) => {
      assertNotMore(minutes, MOST_MINUTES, 'minutes');
      const begins = minutes.map((minute, index) => beginOf(minute, `minutes[${index}]`));
      if (begins.length > 0) {
        await signOn.run(({ codeMinutes }) => codeMinutes.markWatched(begins, clock()));
      }
      return {};
    },
    expireAuthorizationCodes: async ({ minute }) => {
      const begin = beginOf(minute, 'minute');
      const outcome = await signOn.run(({ codeMinutes }) => expireCodesOf(codeMinutes, clock, begin));
      const retryInMs = outcome.retryAt && boundedMs(outcome.retryAt - clock());
      return { ...outcome, retryInMs };
    },
    advanceSigningKeys: async (_, { requestId }) => {
      const { changes, nextDueAt } = await advanceSigningKeys(signingKeys, { ...SCHEDULE, requestId });
      return { changes: changes.map(({ key, step }) => ({ kid: key.kid, step: STEPS[step] })), nextDueAt };
    },
  });
}

function beginOf(minute: Date | undefined, path: string): number {
  const begin = minute?.getTime() ?? Number.NaN;
  if (begin % MINUTE_MS !== 0) {
    throw invalidField('This is not the beginning of a minute.', path, 'must be the beginning of a minute');
  }
  return begin;
}
