import type { InstanceId } from '../../generated/ids.js';
import { allowedRights, type Right } from '../../generated/proto/rights.js';

/** Who is at the other end of a call, by the one right that their token carries. */
export type Caller = Right;

/** The other roles of the service. Their tokens come from the settings; all others are in the database. */
export const roleRights: ReadonlySet<Caller> = new Set(['edge', 'relay', 'maintenance', 'metrics']);

export interface Identity {
  caller: Caller;
  /** Id of the token, where the database knows it. */
  tokenId?: string;
  /** Whose idempotency keys are its own too: the first token of its line of succession. */
  ownerId?: string;
  /** The one instance that the token reaches; all of them when absent. */
  instanceId?: InstanceId;
}

/** Says whose token this is, or throws the refusal. */
export type Authenticate = (token: string) => Identity | Promise<Identity>;

const table: Readonly<Record<string, readonly Caller[]>> = allowedRights;

/** Who may call a method, as the contract declares it. A method without a declaration must not be served. */
export function callersOf(path: string): readonly Caller[] {
  const callers = table[path];
  if (!callers || callers.length === 0) {
    throw new Error(
      `${path} declares no right that may call it, in proto/ as the option integration.access.v1.allowed.`,
    );
  }
  return callers;
}
