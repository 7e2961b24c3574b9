import type { ErrorObject } from 'ajv';
import type { Context } from 'openapi-backend';
import { problemMessages } from '../../../generated/problems.js';
import { ErrorCode, type FieldViolation, ServiceError } from '../../errors/service-error.js';
import type { HttpAnswer } from '../http/exchange.js';
import { Html } from '../pages/html.js';
import { JsonBytes, StreamedArray } from './json-bytes.js';

/** Handlers for requests that reach no operation. Without one, such a request is a fault. */
interface Fallbacks {
  notFound(context: Context): never;
  methodNotAllowed(context: Context): never;
  notImplemented(context: Context): never;
  unauthorizedHandler(context: Context): never;
  validationFail(context: Context): never;
  postResponseHandler(context: Context): HttpAnswer;
}

export const fallbacks: Fallbacks = {
  notFound() {
    throw new ServiceError(ErrorCode.ROUTE_NOT_FOUND, 'There is nothing at this path.');
  },

  methodNotAllowed() {
    throw new ServiceError(ErrorCode.METHOD_NOT_ALLOWED, problemMessages.method_not_allowed);
  },

  notImplemented() {
    throw new ServiceError(ErrorCode.NOT_IMPLEMENTED, 'This operation is not part of this release yet.');
  },

  unauthorizedHandler({ security }) {
    const refusal = Object.values(security ?? {}).find((result) => result?.error)?.error;
    throw (
      refusal ?? new ServiceError(ErrorCode.INTERNAL_ERROR, 'A security handler refused without saying why.')
    );
  },

  validationFail({ validation }) {
    const fieldViolations = (validation.errors ?? []).map(toViolation);
    throw new ServiceError(ErrorCode.INVALID_REQUEST, problemMessages.invalid_request, { fieldViolations });
  },

  postResponseHandler({ response }) {
    const { status, headers, body } = response as HttpAnswer & { body?: unknown };
    if (body === undefined) {
      return { status, headers };
    }
    const type = body instanceof Html ? 'text/html; charset=utf-8' : 'application/json';
    return { status, headers: { 'content-type': type, ...headers }, body: bytesOf(body) };
  },
};

function bytesOf(body: unknown): HttpAnswer['body'] {
  if (body instanceof Html) {
    return String(body);
  }
  if (body instanceof StreamedArray) {
    return body;
  }
  return body instanceof JsonBytes ? body.bytes : JSON.stringify(body);
}

/** `/query/limit` must be integer -> { path: 'query.limit', message: 'must be integer' }. */
function toViolation({
  instancePath,
  keyword,
  params,
  parentSchema,
  message = 'is not valid',
}: ErrorObject): FieldViolation {
  const [, place = 'body', ...rest] = instancePath.split('/');
  const name =
    keyword === 'required' ? [...rest, (params as { missingProperty: string }).missingProperty] : rest;
  const prefix = parentSchema?.['x-public-id-prefix'];
  const ofId =
    keyword === 'pattern' && prefix
      ? `must be a public id of the form ${prefix}_ and 22 letters or digits`
      : message;
  const said = keyword === 'required' ? 'is required' : ofId;
  return { path: `${place === 'requestBody' ? 'body' : place}.${name.join('/')}`, message: said };
}
