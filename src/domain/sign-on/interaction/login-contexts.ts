import type { AccountId, ClientId, InstanceId } from '../../../../generated/ids.js';

/** What a person is to a client: user or worker. */
export interface LoginContext {
  userType: 'WORKER' | 'USER';
  clientId: ClientId;
}

export interface LoginContextRows {
  find(accountId: AccountId, instanceId: InstanceId): Promise<LoginContext | undefined>;
  /** Remembers the last context per person and instance. */
  remember(accountId: AccountId, instanceId: InstanceId, context: LoginContext, at: number): Promise<void>;
}

/** A context that a person may choose on an instance. */
export interface ContextChoice extends LoginContext {
  /** The public id of the user or worker. */
  memberId: string;
  /** The person's names at the client; workers have all three. */
  firstName: string | null;
  lastName: string | null;
  fullName: string | null;
  clientName: string;
  roleName: string | null;
  /** A user who has never signed in. */
  invited: boolean;
}
