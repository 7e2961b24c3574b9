import type { Comparison } from '../harness/comparison.js';
import type { StoreKind } from '../subjects/postgres.js';
import { connectionId, makeStoredWorkers, workersPath } from '../subjects/stored-workers.js';
import { listAgainstPeer } from './list-against-peer.js';

const FRESH_GOALS = { 100: 0.6, 1: 0.25 };
const LIMITS = {
  100: 'Reading the rows and writing them as JSON',
  1: 'HTTP, the check of the key, and the call to the domain',
};
const ETAG_GOAL = 0.32;

/** The workers of one client, a hundred and one alone, whole and as a 304. */
export const workers: readonly Comparison[] = ([100, 1] as const).flatMap((count) => [
  workersAgainstPeer(count, { goal: FRESH_GOALS[count], showEtag: false }),
  workersAgainstPeer(count, { goal: ETAG_GOAL, showEtag: true }),
]);

export const workersOnPostgres: readonly Comparison[] = ([100, 1] as const).map((count) =>
  workersAgainstPeer(count, { store: 'PostgreSQL', showEtag: false }),
);

function workersAgainstPeer(
  count: keyof typeof LIMITS,
  terms: { goal?: number; store?: StoreKind; showEtag: boolean },
): Comparison {
  const clientNumber = 1;
  return listAgainstPeer({
    ...terms,
    what: `workers, list of ${count}`,
    limit: LIMITS[count],
    path: workersPath('v1', clientNumber),
    apiKeyOf: (service) => service.apiKeyReaching(connectionId()),
    prepare: (scope, workplace) =>
      makeStoredWorkers(scope, workplace, [{ firstNumber: clientNumber, clients: 1, workersEach: count }]),
  });
}
