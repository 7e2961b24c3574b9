import { relative } from 'node:path';
import { type Config, hostAndPort } from '../../config/config.js';
import { demoFilePath, readDemoFile } from './prepare-demo.js';

/** Says what runs where and, in a demo environment, what to try. */
export function welcome(config: Config, say: (line: string) => void): void {
  const demo = config.ENVIRONMENT === 'demo' ? readDemoFile(demoFilePath(config.DATA_DIR)) : undefined;
  const key = demo?.apiKeys[0]?.key;
  const rows: [string, string][] = [
    ['Sign-on', config.SIGN_ON_URL],
    ['Gateway', config.GATEWAY_URL],
    ['gRPC', hostAndPort(config.GRPC_HOST, config.GRPC_PORT)],
    ['Health, metrics', `http://${config.METRICS_HOST}:${config.METRICS_PORT} (/livez /readyz /metrics)`],
  ];
  if (demo) {
    rows.push(['Temporal UI', `${demo.temporalUiUrl} (as soon as Temporal has joined)`]);
  }
  say(`\nThe ${config.ENVIRONMENT} environment is serving.\n`);
  say(rows.map(([name, where]) => `  ${name.padEnd(16)} ${where}`).join('\n'));
  if (!demo || !key) {
    return;
  }
  say(`
Demo credentials (all of them: ${relative(process.cwd(), demoFilePath(config.DATA_DIR))})

  API key          ${key}
  Operator token   ${demo.operatorToken}
  Platform token   ${demo.platformToken}

Three things to try

  1. Read what your integration is connected to:
     curl -s -H "x-api-key: ${key}" ${demo.gatewayUrl}/v1/instance-integrations

  2. See the same question answered 304 to whoever holds any answer to it:
     curl -si -H "x-api-key: ${key}" -H 'If-None-Match: *' ${demo.gatewayUrl}/v1/instance-integrations

  3. List every gRPC service, by reflection:
     npx integration call

Ctrl-C ends everything.
`);
}
