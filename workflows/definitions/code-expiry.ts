import {
  ApplicationFailure,
  defineQuery,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertMemo,
} from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.js';
import { type CodeCounts, type CodeExpiryInput, queryNames } from '../contract.js';
import { activitiesWith } from './activities.js';

const progressQuery = defineQuery<CodeCounts | null>(queryNames.progress);

/**
 * Waits until the codes of one minute expire, marks unredeemed ones as EXPIRED and counts all. No rule
 * depends on it: expired codes are refused anyway.
 */
export async function authorizationCodeExpiry(input: CodeExpiryInput): Promise<CodeCounts> {
  let latest: CodeCounts | null = null;
  setHandler(progressQuery, () => latest);

  const { expireAuthorizationCodes } = activitiesWith<MaintenanceActivities>(input.stepTimeoutMs, input);
  let { waitMs } = input;
  for (let round = 1; round <= input.giveUpAfterRounds; round++) {
    if (waitMs > 0) {
      await sleep(waitMs, { summary: 'Until the last code of the minute is over' });
    }
    const { counts, retryInMs } = await expireAuthorizationCodes.executeWithOptions(
      { activityId: `expire-${round}`, summary: `Expires what is left of the codes of ${input.minute}` },
      [{ minute: input.minute }],
    );
    latest = counts;
    setCurrentDetails(describe(counts));
    if (retryInMs === null) {
      // A memo can be read without a worker, also in lists and after the end.
      upsertMemo({ ...counts });
      return counts;
    }
    waitMs = Math.max(input.leastWaitMs, retryInMs);
  }
  // More rounds would fill the history.
  throw ApplicationFailure.create({
    message: `Codes of ${input.minute} were still valid after ${input.giveUpAfterRounds} rounds.`,
    type: 'CodesStillValid',
    nonRetryable: true,
    details: [latest],
  });
}

function describe({ issued, redeemed, expired }: CodeCounts): string {
  const valid = issued - redeemed - expired;
  const counts = `${issued} issued: ${redeemed} redeemed, ${expired} expired`;
  return valid > 0 ? `${counts}, ${valid} still valid.` : `${counts}.`;
}
