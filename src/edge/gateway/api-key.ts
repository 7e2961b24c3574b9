import { problemMessages } from '../../../generated/problems.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { inspectApiKey } from '../../identifiers/api-key.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import type { HttpRequest } from '../http/exchange.js';

export interface Identity {
  /** The hash of the key; the key itself goes no further. */
  apiKeyHash: Buffer;
}

const QUERY_NAMES = /^(x[-_]?)?api[-_]?key$/i;
const KEY_START = /\bik_(live|demo)_/;

/** Refuses texts that cannot be a key. The domain authenticates the key in the call that reads. */
export function apiKeySecurity(environment: 'live' | 'demo') {
  return ({ headers, query }: HttpRequest): Identity => {
    refuseKeyInQuery(query);
    const key = headers['x-api-key'];
    if (typeof key !== 'string' || key === '') {
      throw new ServiceError(ErrorCode.API_KEY_MISSING, problemMessages.api_key_missing);
    }
    const verdict = inspectApiKey(key, environment);
    if (verdict === 'malformed') {
      throw new ServiceError(ErrorCode.API_KEY_MALFORMED, problemMessages.api_key_malformed);
    }
    if (verdict === 'wrong_environment') {
      const other = environment === 'live' ? 'demo' : 'live';
      const message = `This is a key of the ${other} environment, and this is the ${environment} environment.`;
      throw new ServiceError(ErrorCode.API_KEY_WRONG_ENVIRONMENT, message);
    }
    return { apiKeyHash: hashSecret(key) };
  };
}

/** Addresses end up in logs; a key in one should be replaced. */
function refuseKeyInQuery(query: URLSearchParams): void {
  for (const [name, value] of query) {
    if (QUERY_NAMES.test(name) || KEY_START.test(name) || KEY_START.test(value)) {
      throw new ServiceError(ErrorCode.API_KEY_IN_QUERY, problemMessages.api_key_in_query);
    }
  }
}
