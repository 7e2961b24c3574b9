import { relative } from 'node:path';
import { type Config, hostAndPort } from '../../config/config.js';
import { demoSeed } from '../../domain/demo/seed.js';
import { type DemoFile, demoFilePath, readDemoFile } from './demo-file.js';
import { signInTrial } from './sign-in-trial.js';

/** Prints what runs where and, in a demo environment, what to try. */
export function welcome(config: Config, say: (line: string) => void): void {
  const demo = config.ENVIRONMENT === 'demo' ? readDemoFile(demoFilePath(config.DATA_DIR)) : undefined;
  const places: [string, string][] = [
    ['Sign-on', config.SIGN_ON_URL],
    ['Gateway', config.GATEWAY_URL],
    ['Documentation', `${config.GATEWAY_URL}/docs`],
    ['gRPC', hostAndPort(config.GRPC_HOST, config.GRPC_PORT)],
    ['Health, metrics', `http://${config.METRICS_HOST}:${config.METRICS_PORT} (/livez /readyz /metrics)`],
  ];
  if (demo?.temporalUiUrl) {
    places.push(['Temporal UI', `${demo.temporalUiUrl} (as soon as Temporal has joined)`]);
  }
  say(`\nThe ${config.ENVIRONMENT} environment is serving.\n`);
  say(table(places));
  const invitation = demo && invitationTo(demo, relative(process.cwd(), demoFilePath(config.DATA_DIR)));
  if (invitation !== undefined) {
    say(invitation);
  }
}

/** Undefined where a member that it needs was removed from the file. */
function invitationTo(demo: Partial<DemoFile>, file: string): string | undefined {
  const [key] = (demo.apiKeys ?? []).map((apiKey) => apiKey.key);
  const [person] = demo.people ?? [];
  const trial = signInTrial(demo.baseUrl, demo.applications ?? []);
  const { operatorToken, platformToken, gatewayUrl } = demo;
  if (!key || !person || !trial || !operatorToken || !platformToken || !gatewayUrl) {
    return undefined;
  }
  const credentials: [string, string][] = [
    ['API key', key],
    ['Operator token', operatorToken],
    ['Platform token', platformToken],
    ['Person', person.email],
    ['Password', person.password],
  ];
  return `
Demo credentials (all of them: ${file})

${table(credentials)}

Seven things to try

  1. Sign in, in a browser, as this person or as another one in ${file}:
     ${trial.address}

  2. It ends at an address where nothing listens. Exchange the code in it, within ten minutes:
     ${trial.exchange}

  3. Read what your integration is connected to:
     curl -s -H "x-api-key: ${key}" ${gatewayUrl}/v1/instance-integrations

  4. Send an entity tag, and get 304 without a body:
     curl -si -H "x-api-key: ${key}" -H 'If-None-Match: *' ${gatewayUrl}/v1/instance-integrations

  5. Hear of changes as they happen, signed. Leave this running:
     npx integration listen
     and add a user from another terminal:
     npx integration call Platform/CreateUser '${newUser()}'

  6. List every gRPC service, by reflection:
     npx integration call

  7. Read the documentation, whose pages send requests too, and install an SDK from it:
     ${gatewayUrl}/docs

Ctrl-C ends everything.
`;
}

/** A user at a client whose events `listen` receives. */
function newUser(): string {
  const clientId = demoSeed.clients[0]?.id;
  return JSON.stringify({ clientId, email: 'you@example.com', withoutManager: true });
}

function table(rows: readonly [string, string][]): string {
  return rows.map(([name, value]) => `  ${name.padEnd(16)} ${value}`).join('\n');
}
