import { text } from 'node:stream/consumers';
import type { DescMethod } from '@bufbuild/protobuf';
import { allowedRights } from '../../../generated/proto/rights.js';
import { ServiceError } from '../../errors/service-error.js';
import { SERVICE_TOKEN_KINDS, type ServiceTokenKind } from '../../identifiers/service-token.js';
import { callersOf } from '../../rpc/callers.js';
import { DynamicClient } from '../../rpc/dynamic-client.js';
import { FailedCall, UsageError } from './errors.js';
import { jsonObjectIn } from './import/import-lines.js';
import { isMeant, methodOf } from './method-names.js';
import { print } from './output/print.js';
import { printableJson } from './output/printable.js';
import { type TargetOptions, targetOf } from './target.js';

export async function call(
  methodName: string | undefined,
  json: string,
  options: TargetOptions,
): Promise<void> {
  const request = jsonObjectIn(json === '-' ? await text(process.stdin) : json);
  if (request === undefined) {
    throw new UsageError(`The request must be a JSON object, such as '{"limit": 10}'.`);
  }
  const target = targetOf(options, demoTokenFor(methodName));
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

/** The operator's token where that suffices, otherwise the first that may call the method. */
function demoTokenFor(methodName = ''): ServiceTokenKind {
  const path = Object.keys(allowedRights).find((candidate) => {
    const [, service = '', name = ''] = candidate.split('/');
    return isMeant({ service, name }, methodName);
  });
  const callers = path === undefined ? [] : callersOf(path);
  return SERVICE_TOKEN_KINDS.find((kind) => callers.includes(kind)) ?? 'operator';
}

function listing(methods: readonly DescMethod[]): string {
  const services = [...new Set(methods.map(({ parent }) => parent))];
  return services
    .map((service) => [service.typeName, ...service.methods.map(line)].join('\n'))
    .sort()
    .join('\n\n');
}

function line({ name, methodKind, input, output }: DescMethod): string {
  const streamed = (kinds: readonly DescMethod['methodKind'][]) =>
    kinds.includes(methodKind) ? 'stream ' : '';
  const incoming = `${streamed(['client_streaming', 'bidi_streaming'])}${input.name}`;
  return `  ${name}(${incoming}) -> ${streamed(['server_streaming', 'bidi_streaming'])}${output.name}`;
}
