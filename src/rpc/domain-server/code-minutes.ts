import type { MaintenanceServiceService } from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import type { Clock } from '../../domain/clock.js';
import { expireCodesOf, MINUTE_MS } from '../../domain/maintenance/code-minutes.js';
import type { CodeMinutes } from '../../domain/sign-on/authorization/codes.js';
import { invalidField } from '../../errors/service-error.js';
import type { Handlers } from '../handlers.js';

export interface CodeMinuteDependencies {
  codeMinutes: CodeMinutes;
  clock: Clock;
}

type CodeMinuteMethods = Pick<
  Handlers<typeof MaintenanceServiceService>,
  'listCodeMinutesToWatch' | 'markCodeMinutesWatched' | 'expireAuthorizationCodes'
>;

const MOST_MINUTES = 1_000;

/** The methods with which workflows watch authorization codes. */
export function codeMinuteMethods({ codeMinutes, clock }: CodeMinuteDependencies): CodeMinuteMethods {
  return {
    listCodeMinutesToWatch: async ({ limit }) => {
      if (limit < 1 || limit > MOST_MINUTES) {
        throw invalidField('The limit is out of bounds.', 'limit', `must be between 1 and ${MOST_MINUTES}`);
      }
      return { minutes: await codeMinutes.toWatch(limit) };
    },
    markCodeMinutesWatched: async ({ minutes }) => {
      if (minutes.length > MOST_MINUTES) {
        throw invalidField('There are too many minutes.', 'minutes', `must be ${MOST_MINUTES} at most`);
      }
      const begins = minutes.map((minute, index) => beginOf(minute, `minutes[${index}]`));
      if (begins.length > 0) {
        await codeMinutes.markWatched(begins, clock());
      }
      return {};
    },
    expireAuthorizationCodes: async ({ minute }) => {
      return expireCodesOf(codeMinutes, clock, beginOf(minute, 'minute'));
    },
  };
}

function beginOf(minute: Date | undefined, path: string): number {
  const begin = minute?.getTime() ?? Number.NaN;
  if (begin % MINUTE_MS !== 0) {
    throw invalidField('This is not the beginning of a minute.', path, 'must be the beginning of a minute');
  }
  return begin;
}
