import { allowedRights } from '../../../generated/proto/rights.js';
import { ServiceError } from '../../errors/service-error.js';
import { type Caller, callersOf } from '../../rpc/callers.js';
import { DynamicClient, type DynamicMethod } from '../../rpc/dynamic-client.js';
import type { DemoToken } from '../demo/demo-file.js';
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
  const target = targetOf(options, (demo) => demo[demoTokenFor(methodName)]);
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

const DEMO_TOKENS: Partial<Record<Caller, DemoToken>> = {
  operator: 'operatorToken',
  platform: 'platformToken',
  auditor: 'auditorToken',
  key_custodian: 'keyCustodianToken',
};

/** The operator's where that suffices, else that of the first right that the contract names. */
function demoTokenFor(methodName = ''): DemoToken {
  const path = Object.keys(allowedRights).find((candidate) => {
    const [, service = '', name = ''] = candidate.split('/');
    return isMeant({ service, name }, methodName);
  });
  const callers = path === undefined ? [] : callersOf(path);
  const caller = callers.find((one) => one === 'operator') ?? callers[0];
  return (caller && DEMO_TOKENS[caller]) ?? 'operatorToken';
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
  const found = methods.find((method) => isMeant(method, wanted));
  if (!found) {
    throw new UsageError(
      `There is no method ${wanted}. \`integration call\` without arguments lists them all.`,
    );
  }
  return found;
}

function isMeant(method: { service: string; name: string }, wanted: string): boolean {
  const [service = '', name = ''] = wanted.split('/');
  return method.name === name && [service, `${service}Service`].some((text) => isNamed(method.service, text));
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
