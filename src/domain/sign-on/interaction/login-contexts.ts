import type { AccountId, InstanceId } from '../../../../generated/ids.js';
import type { LoginContext } from '../../credentials/access.js';
import type { Identity } from '../identity.js';

export type { LoginContext };

export interface LoginContextRows {
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

/** The choices, last used first. Two contracts with one client are one choice. */
export function offeredContexts({
  contexts,
  lastContext,
}: Pick<Identity, 'contexts' | 'lastContext'>): ContextChoice[] {
  const seen = new Set<string>();
  const distinct = contexts.filter(({ userType, clientId }) => {
    const key = `${userType} ${clientId}`;
    return !seen.has(key) && seen.add(key);
  });
  const lastUsed = findContext(distinct, lastContext);
  return lastUsed ? [lastUsed, ...distinct.filter((choice) => choice !== lastUsed)] : distinct;
}

export function findContext(
  contexts: readonly ContextChoice[],
  wanted: { userType: LoginContext['userType'] | undefined; clientId: string } | undefined,
): ContextChoice | undefined {
  return contexts.find(
    ({ userType, clientId }) => userType === wanted?.userType && clientId === wanted.clientId,
  );
}
