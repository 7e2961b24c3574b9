import addFormats from 'ajv-formats';
import { type Context, type Document, OpenAPIBackend } from 'openapi-backend';
import { judgesItself } from './completeness.js';

/** openapi-backend validates documents against OpenAPI 3.0; ours are 3.1 and linted by `make verify`. */
class Backend extends OpenAPIBackend {
  override validateDefinition(): Document {
    return this.document;
  }
}

/** openapi-backend over one document. It does not check that handlers are complete. */
export async function openBackend(document: Document, handlers: object): Promise<OpenAPIBackend> {
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
  return backend;
}
