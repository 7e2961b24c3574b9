import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package.js';
import { clientIds } from '../flow/sign-on/demo-environment.js';
import { call } from '../flow/sign-on/environment.js';
import type { WebhookEnvironment } from '../flow/webhooks/webhook-environment.js';
import { freePorts } from '../support/free-ports.js';
import { servedPage } from './guide-page.js';
import { found } from './project.js';
import { receiveWebhooks } from './receive-story.js';
import { RunningProgram } from './running-program.js';
import { signIn } from './sign-in-story.js';

export interface Stage {
  demo: WebhookEnvironment;
  /** Which of the examples of the page, from 0. */
  example: number;
  /** How many the page reports. */
  runs: number;
  /** How many lines the page says that a run prints. */
  linesOf(run: number): number;
  start(env: Record<string, string>): Promise<RunningProgram>;
}

/** Runs a program as often as its page does, and answers what each run printed. */
export type Story = (stage: Stage) => Promise<string[]>;

const firstKey = (demo: WebhookEnvironment) => demo.service.demo().apiKeys[0];

/** Run with the first key of the demo. */
async function run({ demo, start }: Stage, key = firstKey(demo)?.key ?? ''): Promise<string> {
  return (await start({ API_KEY: key })).end();
}

const once: Story = async (stage) => [await run(stage)];

const stayInSync: Story = async (stage) => {
  const outputs = [await run(stage), await run(stage)];
  await stage.demo.newPerson({ worker: [clientIds.quillmere] });
  return [...outputs, await run(stage)];
};

/** Killed once it has followed a change, and started again. */
const keepCopy: Story = async ({ demo, start, linesOf }) => {
  const { workers } = await demo.platform.listWorkers(
    { clientId: clientIds.quillmere, statuses: [], pageSize: 1, pageToken: '' },
    call(),
  );
  const outputs: string[] = [];
  for (const renames of [true, false]) {
    const program = await start({ API_KEY: firstKey(demo)?.key ?? '' });
    await program.printed(1);
    if (renames) {
      const renamed = { workerId: workers[0]?.id ?? '', firstName: 'Marenka', jobTitles: [] };
      await demo.platform.updateWorker(renamed, call());
    }
    outputs.push(await program.printed(linesOf(outputs.length)));
    await program.stop();
  }
  return outputs;
};

const rotate: Story = async (stage) => {
  const { operator } = stage.demo;
  const integrationId = firstKey(stage.demo)?.integrationId ?? '';
  const old = await operator.createApiKey({ integrationId, label: 'Nightly export' }, call());
  const apiKeyId = old.apiKey?.id ?? '';
  const fresh = await operator.rotateApiKey({ apiKeyId, overlapSeconds: 3600 }, call());
  const outputs = [await run(stage, fresh.key), await run(stage, old.key)];
  await operator.rotateApiKey({ apiKeyId: fresh.apiKey?.id ?? '', overlapSeconds: 0 }, call());
  outputs.push(await run(stage, fresh.key));
  await operator.revokeApiKey({ apiKeyId }, call());
  return [...outputs, await run(stage, old.key)];
};

/** Against Prism, with the document that the page names. */
const mock: Story = async ({ demo, start }) => {
  const page = await servedPage(demo.service.gatewayUrl, 'mock-in-your-tests');
  const response = await fetch(found(page, /curl --output gateway\.yaml (\S+)/));
  const document = join(demo.service.dataDir, 'gateway.yaml');
  writeFileSync(document, await response.text());
  const [port = 0] = await freePorts(1);
  const prism = new RunningProgram({
    executable: process.execPath,
    args: [join(packageRoot, 'node_modules/.bin/prism'), 'mock', '--port', String(port), document],
    cwd: packageRoot,
    env: {},
  });
  try {
    await prism.says('Prism is listening');
    await (await start({ MOCK_GATEWAY_URL: `http://localhost:${port}` })).end();
    // What tests nothing ends well too.
    await prism.says('Request received', 3);
    return [];
  } finally {
    await prism.stop();
  }
};

/** By the page; those that are not here have no programs. */
export const stories: Record<string, Story> = {
  start: once,
  'sign-in': signIn,
  'read-and-stay-in-sync': (stage) => (stage.example === 0 ? keepCopy(stage) : stayInSync(stage)),
  webhooks: receiveWebhooks,
  'rotate-keys-and-secrets': rotate,
  'errors-and-limits': once,
  'mock-in-your-tests': mock,
  'from-demo-to-live': once,
};
