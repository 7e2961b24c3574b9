import type { InstanceId } from '../../generated/ids.js';
import { allowedRights, type Right } from '../../generated/proto/rights.js';

/** The caller, by the one right of its token. */
export type Caller = Right;

/** Rights of the other roles, with tokens from the settings; all other tokens are in the database. */
export const ROLE_RIGHTS: ReadonlySet<Caller> = new Set(['edge', 'relay', 'maintenance', 'metrics']);

export interface Identity {
  caller: Caller;
  /** Id of the token, if it is in the database. */
  tokenId?: string;
  /** The first token of its line of successors; they share idempotency keys. */
  ownerId?: string;
  /** The only instance that the token reaches; all if absent. */
  instanceId?: InstanceId;
}

/** By whom limits count a call, so that many tokens of an instance or one line have no more than one has. */
export function ownerOf({ instanceId, tokenId, ownerId = tokenId }: Identity): string | undefined {
  return instanceId ?? ownerId;
}

/** Identifies the holder of a token, or throws the refusal. */
export type Authenticate = (token: string) => Identity | Promise<Identity>;

const table: Readonly<Record<string, readonly Caller[]>> = allowedRights;

/** Who may call a method, as the contract declares. A method without a declaration is not served. */
export function callersOf(path: string): readonly Caller[] {
  const callers = table[path];
  if (!callers || callers.length === 0) {
    throw new Error(
      `${path} declares no right that may call it, in proto/ as the option integration.access.v1.allowed, or allowed_in_service of its service.`,
    );
  }
  return callers;
}
