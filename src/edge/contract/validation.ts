import type { ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { type Document, OpenAPIBackend, type Operation } from 'openapi-backend';
import { problemMessages } from '../../../generated/problems.js';
import { ErrorCode, type FieldViolation, ServiceError } from '../../errors/service-error.js';

/** openapi-backend over one document, for its validator. The checks of a request are in `contract-api.ts`. */
export async function openBackend(document: Document): Promise<OpenAPIBackend> {
  const backend = new OpenAPIBackend({
    definition: document,
    strict: true,
    // Compiles the schemas of an operation at its first request: compiling all would dominate the start time.
    // The document is not validated either: openapi-backend knows OpenAPI 3.0 only; `make verify` lints it.
    quick: true,
    // Reports every violation with its schema; the size of a request bounds them. `make verify` has
    // validated the schemas.
    ajvOpts: { allErrors: true, validateSchema: false, verbose: true },
    customizeAjv: (ajv) => {
      // The router has converted numbers; ajv's coercion accepts more than the contract does.
      ajv.opts.coerceTypes = false;
      return addFormats.default(ajv);
    },
  });
  await backend.init();
  // The validator calls this for each request, which `DocumentRouter` has parsed already.
  backend.router.parseRequest = (request) => request as ReturnType<typeof backend.router.parseRequest>;
  return backend;
}

/** Whether the document leaves validation to the handler. */
export function judgesItself(operation: Operation): boolean {
  return (operation as { 'x-invalid-request'?: string })['x-invalid-request'] === 'handler';
}

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
