import type { Actor } from '../../domain/operator/audit.js';
import type { CallContext } from '../handlers.js';

/** Who the audit log says did it: whoever holds the token of the call. */
export function actorOf({ tokenId, caller, requestId, remoteAddress, onBehalfOf }: CallContext): Actor {
  const party =
    tokenId === undefined ? { type: 'service', id: caller } : { type: 'service_token', id: tokenId };
  return { ...party, requestId, remoteAddress, onBehalfOf };
}
