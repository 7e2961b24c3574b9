import type { ClientId, InstanceId, InstanceIntegrationId } from '../../../generated/ids.js';
import { ErrorCode } from '../../errors/service-error.js';
import type { Gatekeeper } from '../access/gatekeeper.js';
import { type Answer, answer, answerOne, type ListAnswer, type Question } from './answer.js';
import type { Address } from './names.js';
import { type PageRequest, pagesOf } from './page.js';

/** A tenant of an instance. */
export interface Client {
  id: ClientId;
  name: string;
  location: Address;
  createdAt: number;
}

export interface ClientStore {
  /** One read: clients of the instance, oldest first. */
  page(instanceId: InstanceId, page: PageRequest): Promise<Client[]>;
  find(id: ClientId): Promise<Client | undefined>;
}

export async function listClients(
  gatekeeper: Gatekeeper,
  clients: ClientStore,
  question: Question,
  instanceIntegration: InstanceIntegrationId,
): Promise<ListAnswer<Client>> {
  const visitor = await gatekeeper.admitToInstance(question, instanceIntegration);
  return answer(visitor, question, () =>
    pagesOf(
      (page) => clients.page(visitor.instanceId, page),
      {},
      () => gatekeeper.readsManyLists(visitor),
    ),
  );
}

export async function getClient(
  gatekeeper: Gatekeeper,
  clients: ClientStore,
  question: Question,
  instanceIntegration: InstanceIntegrationId,
  clientId: ClientId,
): Promise<Answer<Client>> {
  const visitor = await gatekeeper.admitToClient(question, instanceIntegration, clientId);
  const missing = { code: ErrorCode.CLIENT_NOT_FOUND, message: 'Client not found' };
  return answerOne(visitor, question, () => clients.find(visitor.clientId), missing);
}
