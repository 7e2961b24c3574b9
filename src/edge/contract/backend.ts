import addFormats from 'ajv-formats';
import { type Context, type Document, OpenAPIBackend } from 'openapi-backend';
import { judgesItself } from './completeness.js';

/** openapi-backend checks documents against OpenAPI 3.0; ours are 3.1 and linted before they get here. */
class Backend extends OpenAPIBackend {
  override validateDefinition(): Document {
    return this.document;
  }
}

/** openapi-backend over one document; what is left to the handlers is not checked here. */
export async function openBackend(document: Document, handlers: object): Promise<OpenAPIBackend> {
  const backend = new Backend({
    definition: document,
    strict: true,
    quick: true,
    // The contract promises every wrong place at once; how many there can be is bounded by the size of a request.
    // `make verify` has checked the schemas; again, against a meta-schema compiled per operation, is over a quarter of a start.
    ajvOpts: { allErrors: true, validateSchema: false },
    // What is not implemented says so, however it was asked for.
    validate: ({ operation }: Context) =>
      Object.hasOwn(handlers, operation.operationId ?? '') && !judgesItself(operation),
    customizeAjv: (ajv) => {
      // The router has made numbers of what is written as one; a validator that guesses takes more than the contract says.
      ajv.opts.coerceTypes = false;
      return addFormats.default(ajv);
    },
  });
  await backend.init();
  return backend;
}
