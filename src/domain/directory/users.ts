import type { ClientId, InstanceIntegrationId, UserId } from '../../../generated/ids.js';
import { ErrorCode } from '../../errors/service-error.js';
import type { Gatekeeper } from '../access/gatekeeper.js';
import { type Answer, answer, answerOne, type ListAnswer, type Question } from './answer.js';
import type { Named } from './names.js';
import { type PageRequest, pagesOf, type Window } from './page.js';

export type UserStatus = 'ACTIVE' | 'INACTIVE' | 'INVITED' | 'DELETED';

/** A person who can sign in to the dashboard on behalf of one client. */
export interface User {
  id: UserId;
  clientId: ClientId;
  email: string;
  firstName: string | null;
  lastName: string | null;
  fullName: string | null;
  status: UserStatus;
  manager: Manager | null;
  role: Named | null;
  createdAt: number;
}

export interface Manager {
  id: UserId;
  firstName: string | null;
  lastName: string | null;
  fullName: string | null;
  email: string;
}

export interface UserStore {
  /** One read: users of the client who are not DELETED, oldest first. */
  page(clientId: ClientId, page: PageRequest): Promise<User[]>;
  /** One read; includes DELETED users. */
  find(clientId: ClientId, id: UserId): Promise<User | undefined>;
}

export async function listUsers(
  gatekeeper: Gatekeeper,
  users: UserStore,
  question: Question,
  instanceIntegration: InstanceIntegrationId,
  clientId: ClientId,
  window: Window,
): Promise<ListAnswer<User>> {
  const visitor = await gatekeeper.admitToClient(question, instanceIntegration, clientId);
  return answer(visitor, question, () =>
    pagesOf(
      (page) => users.page(visitor.clientId, page),
      window,
      () => gatekeeper.readsManyLists(visitor),
    ),
  );
}

export async function getUser(
  gatekeeper: Gatekeeper,
  users: UserStore,
  question: Question,
  instanceIntegration: InstanceIntegrationId,
  clientId: ClientId,
  userId: UserId,
): Promise<Answer<User>> {
  const visitor = await gatekeeper.admitToClient(question, instanceIntegration, clientId);
  const missing = { code: ErrorCode.USER_NOT_FOUND, message: 'User not found' };
  return answerOne(visitor, question, () => users.find(visitor.clientId, userId), missing);
}
