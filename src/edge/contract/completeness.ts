import type { Document, Operation } from 'openapi-backend';
import { FALLBACK_NAMES, type Fallbacks } from './fallbacks.js';

/** Throws unless every way a request can go ends in a handler of ours. */
export function assertComplete(
  operations: readonly Operation[],
  handlers: object,
  securityHandlers: object,
  fallbacks: Partial<Fallbacks>,
  document: Document,
): void {
  const schemes = Object.keys(document.components?.securitySchemes ?? {});
  const operationIds = operations.map(({ operationId }) => operationId ?? '');
  const problems = [
    ...missing('fallback', FALLBACK_NAMES, fallbacks),
    ...missing('security handler', schemes, securityHandlers),
    ...surplus(securityHandlers, schemes).map((name) => `the security handler ${name} belongs to no scheme`),
    ...missing('handler', Object.keys(handlers), handlers),
    ...surplus(handlers, operationIds).map((name) => `the handler ${name} belongs to no operation`),
  ];
  if (problems.length > 0) {
    throw new Error(`The API "${document.info.title}" cannot be served: ${problems.join('; ')}.`);
  }
}

function surplus(present: object, names: readonly string[]): string[] {
  return Object.keys(present).filter((name) => !names.includes(name));
}

function missing(kind: string, names: readonly string[], present: object): string[] {
  return names
    .filter((name) => typeof present[name as keyof object] !== 'function')
    .map((name) => `no ${kind} ${name}`);
}
