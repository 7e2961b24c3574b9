import { type Command, Option } from 'commander';
import type { Worker, WorkerStatus } from '../../../../../generated/proto/integration/platform/v1/workers.js';
import { confirmation } from '../../confirm.js';
import { idOf } from '../../options.js';
import { printableLine } from '../../output/printable.js';
import { asEnum, asTime, asWord } from '../../output/table.js';
import { addVerb, asGroup, EXPECTED_VERSION, LIMIT, making, YES } from '../group.js';
import type { Action } from '../session.js';
import { columnsOf, type Facts, showing, shownPages } from '../showing.js';
import { addressLine, membersWith, neededClient, shownFirst } from './people.js';

/** `integration worker` alone runs the role of that name; its verbs are about people who work for clients. */
export function addWorkerCommands(role: Command): void {
  const group = asGroup(
    role,
    'worker list --client cli_… --unit oun_…',
    'worker list --email ada@example.com',
    'worker offboard wrk_…',
  );
  const request =
    '{"clientId": "cli_…", "email": "ada@example.com", "firstName": "Ada", "lastName": "Byron"}';
  group.addHelpText('after', making('OnboardWorker', request));
  const email = new Option('--email <address>', 'only those of the person who signs in with this address');
  const status = new Option('--status <status>', 'only workers with this status; active unless given');
  addVerb(group, 'list', list, {
    about: 'List the workers of a client, or the active ones of the person with an address',
    example: '--client cli_…',
  })
    .option('--client <client>', 'only those of this client', idOf('cli'))
    .addOption(email.conflicts(['status', 'unit', 'location']))
    .addOption(status.choices(['active', 'offboarded']))
    .option('--unit <unit>', 'only those assigned to this unit', idOf('oun'))
    .option('--location <location>', 'only those at this organization location', idOf('olo'))
    .option(...LIMIT, 50);
  addVerb(group, 'show <worker>', show, { about: 'Show one worker' });
  addVerb(group, 'offboard <worker>', offboard, {
    about: 'Offboard a worker from the client',
    demoToken: 'platform',
  })
    .option(...EXPECTED_VERSION)
    .option(...YES);
}

const FACTS = {
  Worker: ({ id }) => id,
  Email: ({ email }) => printableLine(email),
  Name: ({ fullName }) => printableLine(fullName),
  Phone: ({ phone }) => printableLine(phone ?? '') || '-',
  Status: ({ status }) => asWord(status, 'WORKER_STATUS_'),
  'Job titles': ({ jobTitles }) => jobTitles.map(printableLine),
  Address: ({ address }) => addressLine(address),
  Units: ({ unitIds, primaryUnitId }) => unitIds.map((id) => (id === primaryUnitId ? `${id} (primary)` : id)),
  Location: ({ locationId }) => locationId ?? '-',
  Client: ({ clientId }) => clientId,
  Account: ({ accountId }) => accountId,
  Onboarded: ({ createdAt }) => asTime(createdAt),
  Changed: ({ updatedAt }) => asTime(updatedAt),
  Offboarded: ({ offboardedAt }) => asTime(offboardedAt),
  Version: ({ version }) => version,
} satisfies Facts<Worker>;

const COLUMNS = columnsOf(FACTS, 'Worker', 'Email', 'Name', 'Status', 'Client', 'Onboarded');

const list: Action<{ status?: string; unit?: string; location?: string }> = async (
  session,
  _,
  { client, email, status, unit: unitId, location: locationId, limit },
) => {
  const { platform } = session;
  if (email !== undefined) {
    const workers = await membersWith(session, { client, email }, async ({ $case, value: workerId }) =>
      $case === 'workerId' ? (await platform.getWorker({ workerId })).worker : undefined,
    );
    return shownFirst(workers, COLUMNS, limit);
  }
  const statuses = status === 'offboarded' ? [asEnum<WorkerStatus>(status, 'WORKER_STATUS_')] : [];
  const filter = { clientId: neededClient({ client }), statuses, unitId, locationId };
  return shownPages(limit, 'workers', (page) => platform.listWorkers({ ...filter, ...page }), COLUMNS);
};

const shown = showing('worker', FACTS);

const show: Action = async ({ platform }, [workerId]) => shown(await platform.getWorker({ workerId }));

const offboard: Action = async ({ platform }, [workerId], { expectedVersion, yes }) => {
  const confirm = confirmation({ yes });
  const { worker } = await platform.getWorker({ workerId });
  await confirm(`Offboard ${printableLine(worker?.fullName ?? '')} from ${worker?.clientId}?`);
  return shown(await platform.offboardWorker({ workerId, expectedVersion }));
};
