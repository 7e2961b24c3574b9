import addFormats from 'ajv-formats';
import { type Context, type Document, OpenAPIBackend, type Operation } from 'openapi-backend';

/** openapi-backend validates documents against OpenAPI 3.0; ours are 3.1 and linted by `make verify`. */
class Backend extends OpenAPIBackend {
  override validateDefinition(): Document {
    return this.document;
  }
}

/** openapi-backend over one document. Throws unless the handlers and the document fit each other. */
export async function openBackend(
  document: Document,
  handlers: object,
  securityHandlers: object,
): Promise<OpenAPIBackend> {
  const backend = new Backend({
    definition: document,
    strict: true,
    // Compiles the schemas of an operation at its first request: compiling all would dominate the start time.
    quick: true,
    // Reports every violation with its schema; the size of a request bounds them. `make verify` has
    // validated the schemas.
    ajvOpts: { allErrors: true, validateSchema: false, verbose: true },
    // Operations that are not implemented answer 501 for invalid requests as well.
    validate: ({ operation }: Context) =>
      Object.hasOwn(handlers, operation.operationId ?? '') && !judgesItself(operation),
    customizeAjv: (ajv) => {
      // The router has converted numbers; ajv's coercion accepts more than the contract does.
      ajv.opts.coerceTypes = false;
      return addFormats.default(ajv);
    },
  });
  await backend.init();
  assertComplete(backend.router.getOperations(), handlers, securityHandlers, document);
  return backend;
}

/** Every scheme must have a handler, and every handler belong to a scheme or an operation. */
function assertComplete(
  operations: readonly Operation[],
  handlers: object,
  securityHandlers: object,
  document: Document,
): void {
  const schemes = Object.keys(document.components?.securitySchemes ?? {});
  const operationIds = operations.map(({ operationId }) => operationId ?? '');
  const problems = [
    ...missing('security handler', schemes, securityHandlers),
    ...surplus(securityHandlers, schemes).map((name) => `the security handler ${name} belongs to no scheme`),
    ...missing('handler', Object.keys(handlers), handlers),
    ...surplus(handlers, operationIds).map((name) => `the handler ${name} belongs to no operation`),
  ];
  if (problems.length > 0) {
    throw new Error(`The API "${document.info.title}" cannot be served: ${problems.join('; ')}.`);
  }
}

/** Whether the document leaves validation to the handler. */
export function judgesItself(operation: Operation): boolean {
  return (operation as { 'x-invalid-request'?: string })['x-invalid-request'] === 'handler';
}

function surplus(present: object, names: readonly string[]): string[] {
  return Object.keys(present).filter((name) => !names.includes(name));
}

function missing(kind: string, names: readonly string[], present: object): string[] {
  return names
    .filter((name) => typeof present[name as keyof object] !== 'function')
    .map((name) => `no ${kind} ${name}`);
}
