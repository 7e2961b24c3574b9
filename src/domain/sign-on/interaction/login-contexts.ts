import type { AccountId, InstanceId } from '../../../../generated/ids.js';
import type { LoginContext } from '../../credentials/sessions.js';

export type { LoginContext };

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
