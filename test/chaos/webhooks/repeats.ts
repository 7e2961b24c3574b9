import { attemptsBehind, type Evidence, grouped, isSuccess, type ToldAttempt } from './judge.js';
import type { Strike } from './strikes.js';

/** A sender or recorder was killed, with this number of unrecorded attempts. */
export interface Kill extends Pick<Strike, 'target' | 'during'> {
  at: number;
  inFlight: number;
}

/** So long that a receiver on a busy machine answers in time unless it means to be late. */
export const TIMEOUT_MS = 5_000;
/** So long the domain takes an attempt for one that runs. */
export const LEASE_MS = TIMEOUT_MS + 15_000;

/** What a receiver had accepted and got again. */
export interface Repeat {
  key: string;
  /** Of the attempt that was accepted: when it began, and how the service reports it. */
  startedAt: number;
  outcome: string;
}

/** An acceptance that came too late is a failure to a sender who is well, and no kill is to blame. */
const TOO_LATE = 'TIMED_OUT';

/** By the receivers' records: each request after one of the same event that was accepted. */
export function repeatsOf({ deliveries, records }: Pick<Evidence, 'deliveries' | 'records'>): Repeat[] {
  const told = grouped(deliveries);
  return [...grouped(records)].flatMap(([key, seen]) => {
    const attempts = told.get(key)?.[0]?.attempts ?? [];
    const behind = attemptsBehind(attempts, seen) ?? [];
    const accepted = seen.flatMap(({ answer }, index) => (isSuccess(answer) ? [index] : []));
    return accepted
      .filter((index) => index < seen.length - 1)
      .map((index) => ({ key, ...startOf(behind[index]) }));
  });
}

function startOf(attempt: ToldAttempt | undefined): Omit<Repeat, 'key'> {
  return { startedAt: attempt?.startedAt ?? Number.NaN, outcome: attempt?.outcome ?? 'unknown' };
}

export interface Account {
  kill: Kill;
  repeats: number;
}

/** Each repeat goes to the kill that came while the attempt ran which it repeats. */
export function accountOf(
  kills: readonly Kill[],
  repeats: readonly Repeat[],
): { accounts: Account[]; late: number; unexplained: Repeat[] } {
  const accounts = kills.map((kill) => ({ kill, repeats: 0 }));
  const unexplained: Repeat[] = [];
  let late = 0;
  for (const repeat of repeats) {
    const { startedAt } = repeat;
    const account = accounts.find(({ kill: { at } }) => startedAt <= at && at <= startedAt + LEASE_MS);
    if (repeat.outcome === TOO_LATE) {
      late += 1;
    } else if (account) {
      account.repeats += 1;
    } else {
      unexplained.push(repeat);
    }
  }
  return { accounts, late, unexplained };
}

/** For people. */
export function accountInWords({ accounts, late, unexplained }: ReturnType<typeof accountOf>): string {
  const lines = accounts.map(
    ({ kill: { target, during, inFlight }, repeats }, index) =>
      `  kill ${String(index + 1).padStart(2)}  ${`${target} during a ${during}`.padEnd(30)}  ${String(inFlight).padStart(5)} in flight  ${String(repeats).padStart(5)} sent again`,
  );
  const sum = (of: (account: Account) => number) => accounts.reduce((total, one) => total + of(one), 0);
  return [
    'Sent again although it had been accepted, beside what was in flight:',
    ...lines,
    `  in all   ${' '.repeat(30)}  ${String(sum(({ kill }) => kill.inFlight)).padStart(5)} in flight  ${String(sum(({ repeats }) => repeats)).padStart(5)} sent again`,
    `  accepted too late for the sender and sent again: ${late}; for no reason: ${unexplained.length}`,
    '',
  ].join('\n');
}
