import type { RetryCounts, RetryProgress, RetryStatus } from '../contract.js';

const states: Record<RetryStatus, string> = {
  PENDING: 'waits',
  DELIVERED: 'delivered',
  EXHAUSTED: 'exhausted',
  HELD: 'held: the subscription is disabled',
  CANCELLED: 'cancelled',
  GONE: 'no longer here: purged',
};

/** The UI's frame is a line too short, and would cut the last row of the table. */
const LAST_LINE = '\u00a0';

/** The history and the next steps for people, as a sentence and a Markdown table. */
export function describeRetries(counts: RetryCounts, deliveries: readonly RetryProgress[]): string {
  const rows = deliveries.map(
    ({ deliveryId, status, attemptsBegun, lastAttempt, nextAttemptAt }) =>
      `| ${deliveryId} | ${stateOf(status, nextAttemptAt)} | ${attemptsBegun} of 3 | ${lastAttempt ?? ''} | ${timeOf(nextAttemptAt)} |`,
  );
  return [
    inWords(counts, deliveries),
    '',
    '| Delivery | State | Attempts | Last attempt | Next attempt |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    LAST_LINE,
  ].join('\n');
}

function inWords(counts: RetryCounts, deliveries: readonly RetryProgress[]): string {
  const open = deliveries.filter(({ status }) => status === 'PENDING');
  const parts = (['delivered', 'exhausted', 'held', 'cancelled', 'gone'] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${kind}`);
  if (open.length > 0) {
    parts.push(`${open.length} to go`);
  }
  const sentence = `${plural(counts.deliveries)}: ${parts.join(', ') || 'none left'}.`;
  const next = open.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []).sort()[0];
  return next === undefined ? sentence : `${sentence} Next attempt at ${timeOf(next)}.`;
}

function stateOf(status: RetryStatus, nextAttemptAt: string | null): string {
  return status === 'PENDING' && nextAttemptAt === null ? 'under way' : states[status];
}

/** `2026-07-01 10:00:30Z` */
function timeOf(at: string | null): string {
  return at === null ? '' : `${at.slice(0, 19).replace('T', ' ')}Z`;
}

export function plural(deliveries: number): string {
  return deliveries === 1 ? '1 delivery' : `${deliveries} deliveries`;
}
