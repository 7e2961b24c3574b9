import type { ClientId, LocationId, UnitId } from '../../../../generated/ids.js';
import { newVersion } from '../../version.js';
import { BATCH_ROWS } from '../changes.js';
import type { Client } from '../rows/organization.js';
import type { Worker, WorkerFilter } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { recordWorkers } from './workers.js';

/** Removes the location from its workers, and returns their number. */
export async function clearLocation(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'workers'>,
  client: Client,
  locationId: LocationId,
): Promise<number> {
  let cleared = 0;
  for await (const batch of workersOf(changes, client.id, { locationId })) {
    await rewriteWorkers(
      changes,
      client,
      batch.map((worker) => ({ ...worker, location: null })),
    );
    cleared += batch.length;
  }
  return cleared;
}

/** Removes the unit from its workers; the next of their units becomes the primary one. */
export async function clearUnit(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'workers'>,
  client: Client,
  unitId: UnitId,
): Promise<void> {
  for await (const batch of workersOf(changes, client.id, { unitId })) {
    const changed = batch.map((worker) => {
      const units = worker.units.filter(({ id }) => id !== unitId);
      const primaryUnit = worker.primaryUnit?.id === unitId ? (units[0] ?? null) : worker.primaryUnit;
      return { ...worker, units, primaryUnit };
    });
    for (const worker of changed) {
      await changes.workers.assign(worker);
    }
    await rewriteWorkers(changes, client, changed);
  }
}

/** Writes workers as part of another change, which touches the client once for all. */
export async function rewriteWorkers(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'workers'>,
  client: Client,
  workers: readonly Worker[],
): Promise<void> {
  const changed = workers.map((worker) => ({ ...worker, version: newVersion(), updatedAt: changes.now }));
  for (const worker of changed) {
    await changes.workers.update(worker);
  }
  await recordWorkers(changes, 'worker.updated', client, changed);
}

/**
 * Workers of the client in batches, including offboarded ones, oldest first. The caller may change them on
 * the way.
 */
export async function* workersOf(
  changes: Pick<Changes, 'workers'>,
  clientId: ClientId,
  filter: Omit<WorkerFilter, 'statuses'>,
): AsyncGenerator<Worker[]> {
  let after: Worker | undefined;
  do {
    const batch: Worker[] = await changes.workers.page({ after, limit: BATCH_ROWS }, clientId, filter);
    yield batch;
    after = batch.length === BATCH_ROWS ? batch.at(-1) : undefined;
  } while (after);
}
