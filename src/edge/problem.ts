import { STATUS_CODES } from 'node:http';
import type { components } from '../../generated/openapi/gateway.js';
import { problemMessages, problemStatuses } from '../../generated/problems.js';
import { publicCode, type ServiceError } from '../errors/service-error.js';
import type { HttpAnswer } from './http/exchange.js';

type Problem = components['schemas']['Problem'];
type ProblemCode = Problem['code'];

/** The only mapping from errors to HTTP statuses. Codes outside the gateway's contract are faults: 500. */
const STATUS_OF: Record<ProblemCode, number> = problemStatuses;

/** The page of the documentation with a section for each code. Sign-on serves no documentation. */
export const EXPLANATIONS = '/docs/errors';
const LOCATED_FIELD = /^(path|query|header|body)\.(.*)$/;

export function toProblem(error: ServiceError, requestId: string): HttpAnswer {
  const given = publicCode(error.code);
  const code = given in STATUS_OF ? (given as ProblemCode) : 'internal_error';
  const status = STATUS_OF[code];
  const message = code === 'internal_error' ? problemMessages.internal_error : error.message;
  const type = `${EXPLANATIONS}#${code}`;
  const problem: Problem = { type, title: STATUS_CODES[status] as string, status, code, message, requestId };
  if (error.fieldViolations.length > 0 && status === 400) {
    problem.errors = error.fieldViolations.map(({ path, message: what }) => {
      const [, place = 'body', name = path] = LOCATED_FIELD.exec(path) ?? [];
      return { in: place as 'path' | 'query' | 'header' | 'body', path: name, message: what };
    });
  }
  return { status, headers: headersOf(error, status), body: JSON.stringify(problem) };
}

function headersOf(error: ServiceError, status: number): Record<string, string | number> {
  const headers: Record<string, string | number> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
  };
  if (status === 401) {
    headers['www-authenticate'] = 'ApiKey realm="gateway"';
  }
  if (error.rateLimit) {
    Object.assign(headers, rateLimitHeaders(error.rateLimit));
  }
  if (error.retryAfterSeconds !== undefined || status === 429 || status === 503) {
    headers['retry-after'] = Math.max(1, error.retryAfterSeconds ?? 1);
  }
  return headers;
}

export function rateLimitHeaders({ limit, remaining, resetSeconds }: NonNullable<ServiceError['rateLimit']>) {
  return {
    'X-RateLimit-Limit': limit,
    'X-RateLimit-Remaining': remaining,
    'X-RateLimit-Reset': resetSeconds,
  };
}
