import { loadConfig } from '../../config/config.js';
import { grpcAddress } from '../../config/parsers.js';
import { ServiceError } from '../../errors/service-error.js';
import { clientCredentials } from '../../rpc/connect.js';
import { DynamicClient, type DynamicMethod } from '../../rpc/dynamic-client.js';
import { demoFilePath, readDemoFile } from '../demo/prepare-demo.js';
import { FailedCall } from './failed-call.js';
import { print } from './print.js';
import { UsageError } from './usage-error.js';

export interface CallOptions {
  address?: string;
  token?: string;
  ca?: string;
}

export async function call(
  methodName: string | undefined,
  json: string,
  options: CallOptions,
): Promise<void> {
  const request = parseJson(json);
  const target = targetOf(options, methodName);
  const credentials = credentialsFor(target.address, options.ca);
  const client = new DynamicClient(target.address, target.token, credentials);
  try {
    if (methodName === undefined) {
      print(listing(await client.methods()));
      return;
    }
    for await (const message of client.call(methodOf(await client.methods(), methodName), request)) {
      print(JSON.stringify(message, null, 2));
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

function targetOf(
  { address, token }: CallOptions,
  methodName: string | undefined,
): { address: string; token: string } {
  if (address !== undefined) {
    refuseMalformed(address);
  }
  const config = loadConfig({ ...process.env, ENVIRONMENT: process.env.ENVIRONMENT ?? 'demo' });
  const demo = readDemoFile(demoFilePath(config.DATA_DIR));
  const demoToken = methodName?.startsWith('Platform') ? demo?.platformToken : demo?.operatorToken;
  const target = { address: address ?? demo?.grpcAddress, token: token ?? demoToken };
  if (target.address === undefined || target.token === undefined) {
    throw new UsageError(
      `There is no demo environment in ${config.DATA_DIR}. Start it with \`make run\`, or give --address and --token.`,
    );
  }
  return target as { address: string; token: string };
}

function refuseMalformed(address: string): void {
  try {
    grpcAddress(address);
  } catch (error) {
    throw new UsageError(`--address ${(error as Error).message}, and is ${address}.`);
  }
}

function credentialsFor(address: string, caFile: string | undefined) {
  try {
    return clientCredentials(address, { caFile });
  } catch (error) {
    throw new UsageError(`The file given as --ca cannot be used: ${(error as Error).message}.`);
  }
}
