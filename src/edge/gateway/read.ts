import type { ReadContext, ReadHeader } from '../../../generated/proto/integration/directory/v1/directory.js';
import { internalError } from '../../errors/service-error.js';
import { rateLimitHeaders } from '../problem.js';
import type { Identity } from './api-key.js';
import type { GatewayDependencies } from './dependencies.js';

interface ReadRequest {
  identity: Identity;
  header(name: string): string | undefined;
  note(facts: Record<string, string>): void;
}

/** What every read of the gateway shares: the question's tag on the way in, the version's headers on the way out. */
export function beginRead(
  request: ReadRequest,
  { entityTags }: GatewayDependencies,
  operationId: string,
  address: string,
) {
  const salt = entityTags.saltOf(operationId, address);
  const context: ReadContext = {
    apiKeyHash: request.identity.apiKeyHash,
    ...entityTags.knownVersions(salt, request.header('if-none-match')),
  };
  return {
    context,
    /** The headers of a 200 or a 304. */
    headersOf(header: ReadHeader | undefined) {
      if (!header?.rateLimit) {
        throw internalError(new Error(`the answer to ${operationId} has no header`));
      }
      request.note({ integrationId: header.integrationId, apiKeyId: header.apiKeyId });
      return {
        ETag: entityTags.tagOf(salt, header.version),
        'Cache-Control': 'private, no-cache',
        Vary: 'x-api-key',
        ...rateLimitHeaders(header.rateLimit),
      };
    },
  };
}
