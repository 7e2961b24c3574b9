import type { ClientId, InstanceIntegrationId, WorkerId } from '../../../generated/ids.js';
import { ErrorCode } from '../../errors/service-error.js';
import type { Gatekeeper } from '../access/gatekeeper.js';
import { type Answer, answer, answerOne, type ListAnswer, type Question } from './answer.js';
import type { Address, Named } from './names.js';
import { type PageRequest, pagesOf, type Window } from './page.js';

/** An employee or contractor of a client. */
export interface Worker {
  id: WorkerId;
  firstName: string;
  lastName: string;
  fullName: string;
  email: string;
  jobTitles: string[];
  phone: string | null;
  location: Address;
  /** The place in the organization; empty if not requested. */
  organizationUnits: Named[];
  organizationUnit: Named | null;
  organizationLocation: Named | null;
  createdAt: number;
}

export interface WorkerStore {
  /** Workers who are not offboarded, oldest first. Their place in the organization is a second read. */
  page(clientId: ClientId, page: PageRequest, withOrganization: boolean): Promise<Worker[]>;
  /** Includes offboarded ones; with the place in the organization. */
  find(clientId: ClientId, id: WorkerId): Promise<Worker | undefined>;
}

export async function listWorkers(
  gatekeeper: Gatekeeper,
  workers: WorkerStore,
  question: Question,
  instanceIntegration: InstanceIntegrationId,
  clientId: ClientId,
  { withOrganization, ...window }: Window & { withOrganization: boolean },
): Promise<ListAnswer<Worker>> {
  const visitor = await gatekeeper.admitToClient(question, instanceIntegration, clientId);
  return answer(visitor, question, () =>
    pagesOf(
      (page) => workers.page(visitor.clientId, page, withOrganization),
      window,
      () => gatekeeper.readsManyLists(visitor),
    ),
  );
}

export async function getWorker(
  gatekeeper: Gatekeeper,
  workers: WorkerStore,
  question: Question,
  instanceIntegration: InstanceIntegrationId,
  clientId: ClientId,
  workerId: WorkerId,
): Promise<Answer<Worker>> {
  const visitor = await gatekeeper.admitToClient(question, instanceIntegration, clientId);
  const missing = { code: ErrorCode.WORKER_NOT_FOUND, message: 'Worker not found' };
  return answerOne(visitor, question, () => workers.find(visitor.clientId, workerId), missing);
}
