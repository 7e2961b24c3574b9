import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/config/package.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { startMock, urlOf } from '../../mock/mock-servers.js';
import { contractDocument } from '../../support/contract/contract-document.js';
import { freePorts } from '../../support/free-ports.js';
import { startRealGateway } from '../../support/gateway/real-gateway.js';

export interface Peers {
  /** Tells a program where to ask, and with which key. */
  env: Record<string, string>;
  /** The lines that a program prints: id and name of each client, then what an exchange gives. */
  lines: string[];
  stop(): Promise<void>;
}

/** The gateway with the directory of the demo, and Prism as the sign-on server. */
export async function startPeers(): Promise<Peers> {
  const gateway = await startRealGateway();
  const [port = 0] = await freePorts(1);
  const ports = { gateway: gateway.port, 'sign-on': port };
  const signOn = await startMock('sign-on', ports, { write: () => undefined });

  const [{ id, connections }] = demoSeed.integrations as [(typeof demoSeed.integrations)[0]];
  const instanceIntegration = connections[0]?.id ?? '';
  const apiKey = gateway.credentials.apiKeys[id] ?? '';
  const answer = await fetch(`${gateway.url}/v1/instance-integrations/${instanceIntegration}/clients`, {
    headers: { 'x-api-key': apiKey },
  });
  const clients = (await answer.json()) as { id: string; name: string }[];

  return {
    env: {
      GATEWAY_URL: gateway.url,
      SIGN_ON_URL: urlOf(ports, 'sign-on'),
      API_KEY: apiKey,
      INSTANCE_INTEGRATION: instanceIntegration,
    },
    lines: [...clients.map((client) => `${client.id} ${client.name}`), documentedTokens()],
    stop: async () => {
      await signOn.close();
      await gateway.stop();
    },
  };
}

/** Prism answers with the first example. */
function documentedTokens(): string {
  const { examples } = contractDocument('sign-on').components as unknown as {
    examples: { CodeGrantTokens: { value: Record<string, unknown> } };
  };
  const { token_type, expires_in, access_token, id_token } = examples.CodeGrantTokens.value;
  return [token_type, expires_in, access_token, id_token].join(' ');
}

export const documents = [
  ['gateway', join(packageRoot, 'generated/openapi/gateway.json')],
  ['sign-on', join(packageRoot, 'generated/openapi/sign-on.json')],
] as const;

/** Puts what an integrator might write beside the generated code. */
export function addProgram(name: string, folder: string): void {
  cpSync(join(import.meta.dirname, 'project', name), join(folder, name));
}
