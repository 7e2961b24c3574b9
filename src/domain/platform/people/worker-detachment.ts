import type { ClientId, LocationId, UnitId } from '../../../../generated/ids.js';
import { newVersion } from '../../version.js';
import type { Client } from '../rows/organization.js';
import type { Worker, WorkerFilter } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { recordWorker } from './workers.js';

/** Rows held in memory at a time. */
const BATCH_ROWS = 250;

/** Removes the location from its workers, and returns their number. */
export async function clearLocation(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'workers'>,
  client: Client,
  locationId: LocationId,
): Promise<number> {
  let cleared = 0;
  for await (const worker of workersOf(changes, client.id, { locationId })) {
    await rewriteWorker(changes, client, { ...worker, location: null });
    cleared += 1;
  }
  return cleared;
}

/** Removes the unit from its workers; the next of their units becomes the primary one. */
export async function clearUnit(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'workers'>,
  client: Client,
  unitId: UnitId,
): Promise<void> {
  for await (const worker of workersOf(changes, client.id, { unitId })) {
    const units = worker.units.filter(({ id }) => id !== unitId);
    const primaryUnit = worker.primaryUnit?.id === unitId ? (units[0] ?? null) : worker.primaryUnit;
    const changed = { ...worker, units, primaryUnit };
    await changes.workers.assign(changed);
    await rewriteWorker(changes, client, changed);
  }
}

/** Writes a worker as part of another change, which touches the client once for all. */
export async function rewriteWorker(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'workers'>,
  client: Client,
  worker: Worker,
): Promise<void> {
  const changed = { ...worker, version: newVersion(), updatedAt: changes.now };
  await changes.workers.update(changed);
  await recordWorker(changes, 'worker.updated', client, changed);
}

/** Workers of the client, including offboarded ones, oldest first. The caller may change them on the way. */
export async function* workersOf(
  changes: Pick<Changes, 'workers'>,
  clientId: ClientId,
  filter: Omit<WorkerFilter, 'statuses'>,
): AsyncGenerator<Worker> {
  let after: Worker | undefined;
  do {
    const batch: Worker[] = await changes.workers.page({ after, limit: BATCH_ROWS }, clientId, filter);
    yield* batch;
    after = batch.length === BATCH_ROWS ? batch.at(-1) : undefined;
  } while (after);
}
