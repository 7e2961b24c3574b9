import { type Worker, WorkerStatus } from '../../../../../generated/proto/integration/platform/v1/workers.js';
import { confirmation } from '../../confirm.js';
import { printableLine } from '../../output/printable.js';
import { asFacts, asTime, asWord } from '../../output/table.js';
import { listed, shownList } from '../listing.js';
import type { Action, Session, Shown } from '../session.js';
import { addressLine, firstOf, membersWith, neededClient, type PeopleFilter } from './people.js';

interface WorkerFilter extends PeopleFilter {
  status?: 'active' | 'offboarded';
  unit?: string;
  location?: string;
}

export const list: Action<WorkerFilter> = async (session, _, filter) => {
  const found =
    filter.email === undefined
      ? await workersOfClient(session, filter)
      : firstOf(await workersOfPerson(session, filter), filter.limit);
  return shownList(found, ['worker', 'email', 'name', 'status', 'client', 'onboarded'], (worker) => [
    worker.id,
    printableLine(worker.email),
    printableLine(worker.fullName),
    statusWord(worker),
    worker.clientId,
    asTime(worker.createdAt),
  ]);
};

export const show: Action = async ({ platform, call }, [workerId = '']) => {
  return shown(await platform.getWorker({ workerId }, call));
};

export const offboard: Action<{ expectedVersion?: string; yes?: boolean }> = async (
  { platform, call },
  [workerId = ''],
  { expectedVersion, yes },
) => {
  const confirm = confirmation({ yes });
  const { worker } = await platform.getWorker({ workerId }, call);
  await confirm(`Offboard ${printableLine(worker?.fullName ?? '')} from ${worker?.clientId}?`);
  return shown(await platform.offboardWorker({ workerId, expectedVersion }, call));
};

function workersOfClient(
  { platform, call }: Session,
  { limit, status, unit, location, client }: WorkerFilter,
) {
  const filter = {
    clientId: neededClient({ client }),
    statuses: status === 'offboarded' ? [WorkerStatus.OFFBOARDED] : [],
    unitId: unit,
    locationId: location,
  };
  return listed(limit, 'workers', (page) => platform.listWorkers({ ...filter, ...page }, call));
}

function workersOfPerson(session: Session, filter: PeopleFilter) {
  const { platform, call } = session;
  return membersWith(session, filter, async (member) =>
    member.$case === 'workerId'
      ? (await platform.getWorker({ workerId: member.value }, call)).worker
      : undefined,
  );
}

function shown(answer: { worker?: Worker | undefined }): Shown {
  const worker = answer.worker as Worker;
  const text = asFacts([
    ['Worker', worker.id],
    ['E-mail', printableLine(worker.email)],
    ['Name', printableLine(worker.fullName)],
    ['Phone', printableLine(worker.phone ?? '') || '-'],
    ['Status', statusWord(worker)],
    ['Job titles', worker.jobTitles.map(printableLine)],
    ['Address', addressLine(worker.address)],
    ['Units', worker.unitIds.map((id) => (id === worker.primaryUnitId ? `${id} (primary)` : id))],
    ['Location', worker.locationId ?? '-'],
    ['Client', worker.clientId],
    ['Account', worker.accountId],
    ['Onboarded', asTime(worker.createdAt)],
    ['Changed', asTime(worker.updatedAt)],
    ['Offboarded', asTime(worker.offboardedAt)],
    ['Version', worker.version],
  ]);
  return { json: answer, text };
}

function statusWord({ status }: Worker): string {
  return asWord(status, 'WORKER_STATUS_');
}
