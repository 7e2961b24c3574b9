import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tool } from '../../guides/project.js';
import { Project } from '../typescript/installed-package.js';
import { describeReceiver, type Launch, type Variant } from './behaviour.js';
import { projectWith, write } from './node-project.js';
import { failingStores, pageText, programOf, replaced } from './page-programs.js';
import { delivery, SECRETS } from './requests.js';

const PACKAGES = [
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  'typescript@5.9.3',
  '@types/node@20.19.43',
  '@types/react@19.2.17',
];
const BUILD_LIMIT_MS = 300_000;
const ROUTE = 'app/events/route.ts';
const API_ROUTE = 'pages/api/events.ts';
const env = { NEXT_TELEMETRY_DISABLED: '1' };

const withFailingStore = (code: string) => replaced(code, '../../store', '../../failing-store');

const READING = `const receive = receiveWebhooks(secrets, store);

export async function POST(request: Request) {
  await request.json();
  return receive(request);
}`;

/** The routes of the page, and each with a store that fails and with something that reads the body before. */
function programs(): Record<string, string> {
  const [route, apiRoute] = [programOf(ROUTE), programOf(API_ROUTE)];
  return {
    'app/layout.js': 'export default function Layout({ children }) { return children; }\n',
    'store.ts': programOf('store.ts'),
    'failing-store.ts': failingStores['store.ts'],
    [ROUTE]: route,
    'app/failing/route.ts': withFailingStore(route),
    'app/read-before/route.ts': replaced(
      route,
      'export const POST = receiveWebhooks(secrets, store);',
      READING,
    ),
    [API_ROUTE]: apiRoute,
    'pages/api/failing.ts': withFailingStore(apiRoute),
    'pages/api/read-before.ts': replaced(apiRoute, 'bodyParser: false', 'bodyParser: true'),
  };
}

describe('the routes for Next.js', () => {
  let project: Project;
  let next: string;

  // Next.js checks the types too. With Turbopack, packages could not be links.
  beforeAll(async () => {
    project = await projectWith('next', PACKAGES);
    next = join(project.folder, 'node_modules/next/dist/bin/next');
    write(project, programs());
    await tool(process.execPath, [next, 'build', '--webpack'], project.folder, env);
  }, BUILD_LIMIT_MS);
  afterAll(() => rmSync(project?.folder ?? '', { recursive: true, force: true }));

  const launch =
    (under: string) =>
    (_: Variant, port: number): Launch => ({
      command: [process.execPath, next, 'start', '--port', String(port)],
      cwd: project.folder,
      env,
      ready: 'Ready in',
      path: `${under}/events`,
      variants: { failing: `${under}/failing`, 'read before': `${under}/read-before` },
    });

  describe('of the App Router', () => {
    describeReceiver({
      launch: launch(''),
      checksSecrets: false,
      advice: /Do not call request\.json\(\)/,
    });
  });

  describe('of the Pages Router', () => {
    describeReceiver({
      launch: launch('/api'),
      checksSecrets: false,
      advice: /api: \{ bodyParser: false \}/,
    });
  });
});

test(
  'a request fails, and is not refused, where no secret is set or the function is a generator',
  async () => {
    const { body, headers } = delivery();
    const code = `import { receiveWebhooks } from '@integration-service/sdk/next';
const made = () => new Request('http://127.0.0.1/events', { method: 'POST', ...${JSON.stringify({ body, headers })} });
const secrets = '${SECRETS}'.split(',');
const receivers = [
  receiveWebhooks([], () => {}),
  receiveWebhooks(secrets, function* () {}),
  receiveWebhooks(secrets, async function* () {}),
];
const outcomes = await Promise.allSettled(receivers.map((receive) => receive(made())));
process.stdout.write(JSON.stringify(outcomes.map(({ reason }) => reason?.message)));
`;
    const project = await Project.install();
    try {
      const generator = 'The function for events is a generator, which stores nothing when it is called.';
      expect(JSON.parse(await project.run(project.javascript('mistakes', code)))).toEqual([
        'At least one webhook secret is needed.',
        generator,
        generator,
      ]);
    } finally {
      rmSync(project.folder, { recursive: true, force: true });
    }
  },
  BUILD_LIMIT_MS,
);

test(
  'the lines of the page for other frameworks give the function their request',
  async () => {
    const lines = [...pageText.matchAll(/^\| .* \| `(.* receive.*;)` \|$/gm)].map(([, line]) => line);
    const { body, headers } = delivery();
    const code = `import { receiveWebhooks } from '@integration-service/sdk/next';
const receive = receiveWebhooks('${SECRETS}'.split(','), () => {});
const app = { post: (_, handle) => Object.assign(app, { handle }) };
${lines.join('\n').replace('export default', 'const server =')}
const made = () => new Request('http://127.0.0.1/events', { method: 'POST', ...${JSON.stringify({ body, headers })} });
const answers = [
  POST({ request: made() }),
  action({ request: made() }),
  app.handle({ req: { raw: made() } }),
  server.fetch(made()),
];
const statuses = (await Promise.all(answers)).map(({ status }) => status);
process.stdout.write(JSON.stringify(statuses));
`;
    const project = await Project.install();
    try {
      expect(JSON.parse(await project.run(project.javascript('others', code)))).toEqual([204, 204, 204, 204]);
    } finally {
      rmSync(project.folder, { recursive: true, force: true });
    }
  },
  BUILD_LIMIT_MS,
);
