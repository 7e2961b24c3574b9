import addFormats from 'ajv-formats';
import { type Document, OpenAPIBackend, type Operation } from 'openapi-backend';

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
