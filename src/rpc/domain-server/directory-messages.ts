import type { ReadContext, ReadHeader } from '../../../generated/proto/integration/directory/v1/directory.js';
import type { Answer, Question } from '../../domain/directory/answer.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';

export function asked(context: ReadContext | undefined, isCounted = false): Question {
  if (!context) {
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The context is missing.');
  }
  return {
    keyHash: context.apiKeyHash,
    remoteAddress: context.remoteAddress,
    known: { values: context.knownVersions, any: context.anyVersionKnown },
    isCounted,
  };
}

export function toHeader({ visitor, content }: Answer<unknown>): ReadHeader {
  const { version, rateLimit, integrationId, apiKeyId, awaitedInstanceId } = visitor;
  return {
    version,
    notModified: content === undefined,
    rateLimit,
    integrationId,
    apiKeyId,
    awaitedInstanceId,
  };
}
