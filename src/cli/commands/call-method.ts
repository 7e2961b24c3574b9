import { ServiceError } from '../../errors/service-error.js';
import { DynamicClient, type DynamicMethod } from '../../rpc/dynamic-client.js';
import { FailedCall } from './failed-call.js';
import { print } from './print.js';
import { printableJson } from './printable.js';
import { type TargetOptions, targetOf } from './target.js';
import { UsageError } from './usage-error.js';

export async function call(
  methodName: string | undefined,
  json: string,
  options: TargetOptions,
): Promise<void> {
  const request = parseJson(json);
  const target = targetOf(options, ({ platformToken, operatorToken }) =>
    methodName?.startsWith('Platform') ? platformToken : operatorToken,
  );
  const client = new DynamicClient(target.address, target.token, target.credentials);
  try {
    if (methodName === undefined) {
      print(listing(await client.methods()));
      return;
    }
    for await (const message of client.call(methodOf(await client.methods(), methodName), request)) {
      print(printableJson(JSON.stringify(message, null, 2)));
    }
  } catch (error) {
    throw error instanceof ServiceError ? new FailedCall(error, target.address) : error;
  } finally {
    client.close();
  }
}

function listing(methods: readonly DynamicMethod[]): string {
  const services = [...new Set(methods.map(({ service }) => service))].sort();
  return services
    .map((service) =>
      [service, ...methods.filter((method) => method.service === service).map(line)].join('\n'),
    )
    .join('\n\n');
}

function line({ name, requestType, responseType, responseStream, requestStream }: DynamicMethod): string {
  const incoming = `${requestStream ? 'stream ' : ''}${requestType}`;
  return `  ${name}(${incoming}) -> ${responseStream ? 'stream ' : ''}${responseType}`;
}

/** `Platform/UpdateUser`, `PlatformService/UpdateUser` and the full name all mean the same. */
function methodOf(methods: readonly DynamicMethod[], wanted: string): DynamicMethod {
  const [service = '', name = ''] = wanted.split('/');
  const found = methods.find(
    (method) =>
      method.name === name && [service, `${service}Service`].some((text) => isNamed(method.service, text)),
  );
  if (!found) {
    throw new UsageError(
      `There is no method ${wanted}. \`integration call\` without arguments lists them all.`,
    );
  }
  return found;
}

function isNamed(service: string, name: string): boolean {
  return service === name || service.endsWith(`.${name}`);
}

function parseJson(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value;
    }
  } catch {
    // Said below, together with what is JSON and no object.
  }
  throw new UsageError(`The request must be a JSON object, such as '{"limit": 10}'.`);
}
