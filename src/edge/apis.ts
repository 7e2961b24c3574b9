import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from 'openapi-backend';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import { packageRoot } from '../config/package.js';
import type { RpcChannel } from '../rpc/client.js';
import type { Log } from '../telemetry/log.js';
import { createContractApi } from './contract/contract-api.js';
import { addressesUnder } from './gateway/addresses.js';
import { apiKeySecurity } from './gateway/api-key.js';
import { EntityTags } from './gateway/entity-tag.js';
import { gatewayHandlers } from './gateway/index.js';
import type { Dispatch } from './http/exchange.js';
import { toProblem } from './problem.js';
import { signOnHandlers } from './sign-on/index.js';

export interface ApiOptions {
  environment: 'live' | 'demo';
  /** The public address of the gateway, for links. */
  gatewayUrl: string;
  domain: RpcChannel;
  log: Log;
}

export function createGatewayApi({ environment, gatewayUrl, domain, log }: ApiOptions): Promise<Dispatch> {
  const { document, hash } = readContract('gateway');
  return createContractApi({
    document,
    handlers: gatewayHandlers,
    securityHandlers: { apiKey: apiKeySecurity(environment) },
    dependencies: {
      directory: domain.clientOf(DirectoryServiceService),
      entityTags: new EntityTags(hash),
      addressOf: addressesUnder(gatewayUrl),
    },
    toErrorAnswer: toProblem,
    log,
  });
}

export function createSignOnApi({ log }: ApiOptions): Promise<Dispatch> {
  const { document } = readContract('sign-on');
  return createContractApi({
    document,
    handlers: signOnHandlers,
    // Who calls is decided together with what they ask for, by the domain: OAuth has an error of its own for each way to fail.
    securityHandlers: { clientBasic: () => true, accessToken: () => true },
    dependencies: {},
    toErrorAnswer: toProblem,
    log,
  });
}

function readContract(name: 'gateway' | 'sign-on'): { document: Document; hash: string } {
  const bytes = readFileSync(join(packageRoot, 'generated/openapi', `${name}.json`));
  const hash = createHash('sha256').update(bytes).digest('base64url');
  return { document: JSON.parse(bytes.toString('utf8')) as Document, hash };
}
