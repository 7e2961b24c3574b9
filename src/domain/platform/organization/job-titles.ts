import type { ClientId } from '../../../../generated/ids.js';
import { ErrorCode, fieldRefusal, ServiceError } from '../../../errors/service-error.js';
import { type Listing, textPage } from '../listing.js';
import { rewriteWorkers, workersToRewrite } from '../people/workers.js';
import type { Changes } from '../unit-of-work.js';
import { Violations } from '../violations.js';
import { assertRoom, getClient, lockClient } from './clients.js';

type Ports = Pick<
  Changes,
  'clients' | 'instanceId' | 'jobTitles' | 'lock' | 'now' | 'recordEvent' | 'touch' | 'workers'
>;

interface TitleOfClient {
  clientId: string;
  title: string;
}

export async function addJobTitle(changes: Ports, { clientId, title }: TitleOfClient): Promise<string> {
  const text = title.trim();
  validate({ client_id: clientId, title: text });
  const client = await lockClient(changes, clientId);
  if ((await addTitles(changes, client.id, [text])) > 0) {
    await changes.touch(client.id);
  }
  return text;
}

/** Adds missing titles, and returns their number. The client must be locked. */
export async function addTitles(
  { jobTitles }: Pick<Changes, 'jobTitles'>,
  clientId: ClientId,
  titles: readonly string[],
): Promise<number> {
  const added = await jobTitles.add(clientId, titles);
  if (added > 0) {
    // They are among those that it counts.
    await assertRoom(jobTitles, clientId, 'job titles', 0);
  }
  return added;
}

export async function listJobTitles(
  changes: Pick<Changes, 'clients' | 'jobTitles'>,
  clientId: string,
  listing: Listing,
): Promise<{ titles: string[]; nextPageToken: string }> {
  const { id } = await getClient(changes, clientId);
  const { rows, nextPageToken } = await textPage(
    listing,
    (after, limit) => changes.jobTitles.page(id, after, limit),
    (title) => title,
  );
  return { titles: rows, nextPageToken };
}

/** Also renames it for its workers, including offboarded ones: records must not have unknown titles. */
export async function renameJobTitle(
  changes: Ports,
  { clientId, title, newTitle }: TitleOfClient & { newTitle: string },
): Promise<{ title: string; updatedWorkers: number }> {
  const from = title.trim();
  const to = newTitle.trim();
  validate({ client_id: clientId, title: from, new_title: to });
  const client = await lockClient(changes, clientId);
  await assertUsed(changes, client.id, from);
  if (from === to) {
    return { title: to, updatedWorkers: 0 };
  }
  if ((await changes.jobTitles.add(client.id, [to])) === 0) {
    const message = 'The client already uses this job title.';
    const violation = 'is a job title of the client already';
    throw fieldRefusal(ErrorCode.ALREADY_EXISTS, message, 'new_title', violation);
  }
  const workerIds = await workersToRewrite(changes, client.id, { jobTitle: from });
  await changes.jobTitles.remove(client.id, from);
  await rewriteWorkers(changes, client, workerIds, ({ jobTitles }) => ({
    jobTitles: [...new Set(jobTitles.map((held) => (held === from ? to : held)))],
  }));
  await changes.touch(client.id);
  return { title: to, updatedWorkers: workerIds.length };
}

/** Offboarded workers do not prevent it, and keep the title in their records. */
export async function removeJobTitle(changes: Ports, { clientId, title }: TitleOfClient): Promise<void> {
  const text = title.trim();
  validate({ client_id: clientId, title: text });
  const client = await lockClient(changes, clientId);
  await assertUsed(changes, client.id, text);
  if ((await changes.workers.countUpTo(1, client.id, { jobTitle: text, statuses: ['ACTIVE'] })) > 0) {
    throw new ServiceError(
      ErrorCode.RESOURCE_IN_USE,
      'Workers still hold this job title. Rename it, or give them another first.',
    );
  }
  await changes.jobTitles.remove(client.id, text);
  await changes.touch(client.id);
}

async function assertUsed(
  changes: Pick<Changes, 'jobTitles'>,
  clientId: ClientId,
  title: string,
): Promise<void> {
  if (!(await changes.jobTitles.has(clientId, title))) {
    throw new ServiceError(ErrorCode.JOB_TITLE_NOT_FOUND, 'The client does not use this job title.');
  }
}

function validate(texts: Record<string, string>): void {
  const violations = new Violations();
  for (const [path, text] of Object.entries(texts)) {
    violations.requiredText(path, text);
  }
  violations.throwIfAny();
}
