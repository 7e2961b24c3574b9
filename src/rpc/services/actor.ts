import type { Actor } from '../../domain/operator/audit.js';
import type { CallContext } from '../handlers.js';

/** The actor in the audit log: the holder of the token. */
export function actorOf({ tokenId, caller, requestId, remoteAddress, onBehalfOf }: CallContext): Actor {
  const party =
    tokenId === undefined ? { type: 'service', id: caller } : { type: 'service_token', id: tokenId };
  return { ...party, requestId, remoteAddress, onBehalfOf };
}
