import type { Document, Operation } from 'openapi-backend';

/** Throws unless every scheme has a handler, and every handler belongs to a scheme or an operation. */
export function assertComplete(
  operations: readonly Operation[],
  handlers: object,
  securityHandlers: object,
  asReceived: readonly string[],
  document: Document,
): void {
  const schemes = Object.keys(document.components?.securitySchemes ?? {});
  const operationIds = operations.map(({ operationId }) => operationId ?? '');
  const problems = [
    ...missing('security handler', schemes, securityHandlers),
    ...surplus(securityHandlers, schemes).map((name) => `the security handler ${name} belongs to no scheme`),
    ...missing('handler', Object.keys(handlers), handlers),
    ...surplus(handlers, operationIds).map((name) => `the handler ${name} belongs to no operation`),
    ...operations.flatMap((operation) => misjudged(operation, handlers, asReceived)),
  ];
  if (problems.length > 0) {
    throw new Error(`The API "${document.info.title}" cannot be served: ${problems.join('; ')}.`);
  }
}

/** The operations for which the document and the type of the handler disagree about validation. */
function misjudged(operation: Operation, handlers: object, asReceived: readonly string[]): string[] {
  const { operationId = '' } = operation;
  const expects = asReceived.includes(operationId);
  if (!Object.hasOwn(handlers, operationId) || expects === judgesItself(operation)) {
    return [];
  }
  const document = expects ? 'has them checked before' : 'has it judge them';
  return [
    `the handler ${operationId} and the document disagree on invalid requests: the document ${document}`,
  ];
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
