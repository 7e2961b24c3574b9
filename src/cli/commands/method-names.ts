import type { DescMethod } from '@bufbuild/protobuf';
import { UsageError } from './errors.js';

/** Accepts `Platform/UpdateUser`, `PlatformService/UpdateUser` and the full name. */
export function methodOf(methods: readonly DescMethod[], wanted: string): DescMethod {
  const found = methods.find(({ parent, name }) => isMeant({ service: parent.typeName, name }, wanted));
  if (!found) {
    throw new UsageError(
      `There is no method ${wanted}. \`integration call\` without arguments lists them all.`,
    );
  }
  return found;
}

export function isMeant(method: { service: string; name: string }, wanted: string): boolean {
  const [service = '', name = ''] = wanted.split('/');
  return method.name === name && [service, `${service}Service`].some((text) => isNamed(method.service, text));
}

function isNamed(service: string, name: string): boolean {
  return service === name || service.endsWith(`.${name}`);
}
