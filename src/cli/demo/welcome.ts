import { relative, resolve } from 'node:path';
import type { Config } from '../../config/config.js';
import { demoSeed } from '../../domain/demo/seed.js';
import { addressOf } from '../../identifiers/network-address.js';
import { demoAppUrl, grpcAddressOf } from '../from-config.js';
import { type DemoFile, demoFilePath, readDemoFile } from './demo-file.js';

/** Prints what runs where and, in a demo environment, what to try. `awaitsTemporal`: its UI is not up yet. */
export function welcome(config: Config, say: (line: string) => void, awaitsTemporal = false): void {
  const demo = config.ENVIRONMENT === 'demo' ? readDemoFile(demoFilePath(config.DATA_DIR)) : undefined;
  const metrics = addressOf({ host: config.METRICS_HOST, port: config.METRICS_PORT });
  const places: [string, string][] = [
    ['Sign-on', config.SIGN_ON_URL],
    ['Gateway', config.GATEWAY_URL],
    ['Documentation', `${config.GATEWAY_URL}/docs`],
    ['gRPC', grpcAddressOf(config)],
    ['Health, metrics', `http://${metrics} (/livez /readyz /metrics)`],
  ];
  if (config.ENVIRONMENT === 'demo') {
    places.push(['Demo application', demoAppUrl(config)]);
  }
  if (demo?.temporalUiUrl) {
    const note = awaitsTemporal ? ' (as soon as Temporal has joined)' : '';
    places.push(['Temporal UI', `${demo.temporalUiUrl}${note}`]);
  }
  say(`\nThe ${config.ENVIRONMENT} environment is serving.\n`);
  say(table(places));
  const invitation = demo && invitationTo(demo, config);
  if (invitation !== undefined) {
    say(invitation);
  }
}

/** Undefined where a member that it needs was removed from the file. */
function invitationTo(demo: Partial<DemoFile>, config: Config): string | undefined {
  const [{ key = undefined, instanceIntegrationIds: [connection] = [] } = {}] = demo.apiKeys ?? [];
  const [person] = demo.people ?? [];
  const { operatorToken, platformToken, gatewayUrl } = demo;
  if (!key || !connection || !person || !operatorToken || !platformToken || !gatewayUrl) {
    return undefined;
  }
  const path = demoFilePath(config.DATA_DIR);
  const below = relative(process.cwd(), path);
  const file = below.startsWith('..') ? path : below;
  const credentials: [string, string][] = [
    ['API key', key],
    ['Operator token', operatorToken],
    ['Platform token', platformToken],
    ['Person', person.email],
    ['Password', person.password],
  ];
  const connections = `${gatewayUrl}/v1/instance-integrations`;
  return `
Demo credentials (all of them: ${file})

${table(credentials)}

Five things to try, in another terminal and a browser
${isUsual(config) ? '' : `\n  0. Tell the commands in each terminal where this demo is:\n     export DATA_DIR='${config.DATA_DIR.replaceAll("'", "'\\''")}'\n`}
  1. Sign in as ${person.email}, with the password above, at the demo application.
     It shows the tokens, the claims and the curl lines that use them:
     ${demoAppUrl(config)}

  2. Read the instances that your integration is connected to, and the clients of the first one:
     curl -s -H "x-api-key: ${key}" ${connections}; echo
     curl -s -H "x-api-key: ${key}" ${connections}/${connection}/clients; echo

  3. Ask again with If-None-Match: * and get 304 without a body; the list is not read.
     (Normally you send the ETag of the last answer.)
     curl -si -H "x-api-key: ${key}" -H 'If-None-Match: *' ${connections}

  4. Receive signed events. Leave the first running, and add a user from another terminal:
     ./integration listen
     ./integration call Platform/CreateUser '${newUser()}'

  5. Act as an operator, and list every gRPC method, by reflection:
     ./integration integration list
     ./integration call

Ctrl-C ends everything.
`;
}

/** Whether commands find the demo without a setting. */
function isUsual({ DATA_DIR }: Config): boolean {
  return DATA_DIR === resolve('.data/demo');
}

/** A user at a client whose events `listen` receives. */
function newUser(): string {
  const clientId = demoSeed.clients[0]?.id;
  return JSON.stringify({ clientId, email: 'you@example.com', withoutManager: true });
}

function table(rows: readonly [string, string][]): string {
  return rows.map(([name, value]) => `  ${name.padEnd(16)} ${value}`).join('\n');
}
