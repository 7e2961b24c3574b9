import type { ErrorObject } from 'ajv';
import { problemMessages } from '../../../generated/problems.js';
import { ErrorCode, type FieldViolation, ServiceError } from '../../errors/service-error.js';

export function refuseViolations(errors: ErrorObject[] | null | undefined): void {
  if (errors) {
    const fieldViolations = errors.map(toViolation);
    throw new ServiceError(ErrorCode.INVALID_REQUEST, problemMessages.invalid_request, { fieldViolations });
  }
}

/** A parameter that came more than once is a list, and its schema would say only that it is none. */
function isRepeated({ keyword, data }: ErrorObject): boolean {
  return keyword === 'type' && Array.isArray(data);
}

/** `/query/limit` must be integer -> { path: 'query.limit', message: 'must be integer' }. */
function toViolation(error: ErrorObject): FieldViolation {
  const { instancePath, keyword, params, parentSchema } = error;
  const message = isRepeated(error) ? 'must be given once' : (error.message ?? 'is not valid');
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
