import { type RecordingDependencies, recordResults } from './records.js';
import type { AttemptResult } from './results.js';
import type { DeliveryProgress } from './sending.js';

const INTERRUPTED: Omit<AttemptResult['attempt'], 'number'> = {
  outcome: 'INTERRUPTED',
  durationMs: null,
  httpStatus: null,
  message:
    'The sender was lost before it could report, so it is unknown whether the receiver got the delivery.',
  responseStart: null,
};

/** An attempt with a lapsed lease counts as made. */
export async function recordLapsed(
  dependencies: RecordingDependencies,
  deliveries: readonly DeliveryProgress[],
): Promise<void> {
  const results = deliveries.map(({ id, attemptsBegun }) => ({
    deliveryId: id,
    attempt: { ...INTERRUPTED, number: attemptsBegun },
  }));
  await recordResults(dependencies, results);
}
