import type { DescMethod } from '@bufbuild/protobuf';
import { distance } from '../../config/misspelt.js';
import { UsageError } from './errors.js';

/** Accepts `Platform/UpdateUser`, `PlatformService/UpdateUser`, the full name, and `UpdateUser`. */
export function methodOf(methods: readonly DescMethod[], wanted: string): DescMethod {
  const [found, another] = methods.filter(({ parent, name }) =>
    isMeant({ service: parent.typeName, name }, wanted),
  );
  if (found && !another) {
    return found;
  }
  throw new UsageError(`There is no method ${wanted}. ${adviceFor(wanted, methods)}`);
}

export function isMeant(method: { service: string; name: string }, wanted: string): boolean {
  const [name, service] = wanted.split('/').toReversed();
  return method.name === name && (service === undefined || isNamed(method.service, service));
}

/** The same name in several services is near to itself. */
function adviceFor(wanted: string, methods: readonly DescMethod[]): string {
  const ofService = methods.find(({ parent }) => isNamed(parent.typeName, wanted));
  if (ofService) {
    return `That is a service: add a method, as in ${shortName(ofService)}.`;
  }
  // As the caller has it: with the service or without.
  const asTyped = (name: string) =>
    name.slice(wanted.includes('/') ? 0 : name.indexOf('/') + 1).toLowerCase();
  const typed = wanted.replace(/^\/?(?:.*\.)?(.+?)(?:Service)?\//, '$1/').toLowerCase();
  const near = methods
    .map(shortName)
    .filter((name) => distance(asTyped(name), typed) < Number.POSITIVE_INFINITY);
  return near.length === 0
    ? '`integration call` without arguments lists them all.'
    : `Did you mean ${near.join(' or ')}?`;
}

export function shortName({ parent, name }: DescMethod): string {
  return `${parent.name.replace(/Service$/, '')}/${name}`;
}

function isNamed(service: string, typed: string): boolean {
  return [typed, `${typed}Service`].some((name) => service === name || service.endsWith(`.${name}`));
}
