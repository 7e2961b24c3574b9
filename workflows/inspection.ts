import {
  type Connection,
  ScheduleClient,
  type ScheduleDescription,
  ScheduleNotFoundError,
} from '@temporalio/client';
import { scheduleIds } from './contract.js';
import { reasonOf } from './log.js';
import {
  askForNamespace,
  askForOwner,
  connectionTo,
  type OwnerClaim,
  shortcomingOf,
  type TemporalPlace,
} from './namespace.js';
import { isSame, latestOf, type Queue, queueOf, SILENT_MS, type Version, workersOf } from './worker-turn.js';

/** What an inspection of Temporal found: a sentence for each problem, and the last poll. */
export interface TemporalFacts {
  /** Why the server or the namespace cannot be used. The rest is then unknown. */
  problem?: string;
  /** Missing search attributes. */
  shortcoming?: string | undefined;
  schedules: string[];
  /** When a worker last polled for work, by the clock of the server. */
  lastPollAt?: number | undefined;
  /** Which workers get no tasks. */
  idle?: string | undefined;
}

const ANSWER_LIMIT_MS = 3_000;
const LATE_AFTER_INTERVALS = 3;
const LATE_AT_LEAST_MS = 300_000;

/** Reads only. Returns a problem instead of throwing. */
export async function inspectTemporal(
  place: TemporalPlace,
  clock = Date.now,
  owner?: OwnerClaim,
): Promise<TemporalFacts> {
  const { namespace } = place;
  const connection = connectionTo(place);
  const over = new AbortController().signal;
  try {
    await askForNamespace(connection, place, over);
    await askForOwner(connection, namespace, owner, over);
    const [shortcoming, schedules, queue] = await Promise.all([
      shortcomingOf(connection, place, over),
      scheduleProblems(connection, namespace, clock()),
      queueOf(connection, namespace, over),
    ]);
    return { shortcoming, schedules, lastPollAt: latestOf(queue.polls), idle: idleIn(queue) };
  } catch (error) {
    return { problem: reasonOf(error), schedules: [] };
  } finally {
    await connection.close().catch(() => undefined);
  }
}

function idleIn({ current, served, polls, lastPollAt }: Queue): string | undefined {
  if (lastPollAt(current) === undefined) {
    return `the tasks go to ${workersOf(current)}, of which none has polled in the last minutes`;
  }
  const recently = (latestOf(polls) ?? 0) - SILENT_MS;
  const getsNone = (version: Version) => !served.some((one) => isSame(one, version));
  const waiting = polls.find(({ version, at }) => getsNone(version) && at > recently);
  return waiting
    ? `${workersOf(waiting.version)} get no tasks until ${workersOf(current)} have ended`
    : undefined;
}

async function scheduleProblems(connection: Connection, namespace: string, now: number): Promise<string[]> {
  const client = new ScheduleClient({ connection, namespace });
  const found = await Promise.all(
    Object.values(scheduleIds).map(async (id) => {
      try {
        const deadline = Date.now() + ANSWER_LIMIT_MS;
        return problemOf(await connection.withDeadline(deadline, () => client.getHandle(id).describe()), now);
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) {
          return `the schedule ${id} does not exist`;
        }
        throw error;
      }
    }),
  );
  return found.filter((problem) => problem !== undefined);
}

function problemOf({ scheduleId, state, info, spec }: ScheduleDescription, now: number): string | undefined {
  if (state.paused) {
    return `the schedule ${scheduleId} is paused${state.note ? `: ${state.note}` : ''}`;
  }
  const everyMs = Number(spec.intervals?.[0]?.every ?? 0);
  const lastAt = info.recentActions.at(-1)?.takenAt ?? info.createdAt;
  const isLate = now - lastAt.getTime() > Math.max(LATE_AFTER_INTERVALS * everyMs, LATE_AT_LEAST_MS);
  if (!isLate) {
    return undefined;
  }
  const last = lastAt.toISOString();
  // The schedule starts no run while another one lasts.
  return info.runningActions.length > 0
    ? `the run of the schedule ${scheduleId} that began at ${last} has not ended`
    : `the schedule ${scheduleId} has not run since ${last}`;
}
