import type { AccountId, ClientId, InstanceId } from '../../../generated/ids.js';

/** What a person is to a client when they sign in. */
export interface LoginContext {
  userType: 'WORKER' | 'USER';
  clientId: ClientId;
}

export interface LoginContextRows {
  find(accountId: AccountId, instanceId: InstanceId): Promise<LoginContext | undefined>;
  /** Remembers the last one for each person and instance. */
  remember(accountId: AccountId, instanceId: InstanceId, context: LoginContext, at: number): Promise<void>;
}

/** One context that a person may choose on an instance. */
export interface ContextChoice extends LoginContext {
  /** The user's or worker's public id. */
  memberId: string;
  /** What the client calls the person there; a worker has all three. */
  firstName: string | null;
  lastName: string | null;
  fullName: string | null;
  clientName: string;
  roleName: string | null;
  /** A user who has never signed in. */
  invited: boolean;
}
