import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:http2';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { Project } from '../typescript/installed-package.js';
import { describeReceiver, type Receiver, saidAtStart, startReceiver } from './behaviour.js';
import { NodeServers } from './node-project.js';
import { pageText, programOf, replaced, withLines } from './page-programs.js';
import { delivery } from './requests.js';

const FILE = 'express-server.ts';
const MADE = 'const app = express();';
const BEYOND_DEFAULT_LIMIT = 150_000;
const EMPTYING = `app.use((request, _, next) => {
  request.resume().once('end', () => setImmediate(next));
});`;
/** Says when a request begins, and when all that follows the end of its connection has happened. */
const alone = (module: string) => `import { createServer } from '${module}';
import { receiveWebhooks } from '@integration-service/sdk/express';
import { store } from './store.js';

const server = createServer(receiveWebhooks((process.env.WEBHOOK_SECRETS ?? '').split(','), store));
server.on('request', (request) => {
  process.stdout.write('begun\\n');
  request.once('close', () => setImmediate(() => process.stdout.write('closed\\n')));
});
server.listen(Number(process.env.PORT), () => process.stdout.write('listening\\n'));
`;

describe.each([
  ['5', ['express@5.3.0', '@types/express@5.0.6']],
  ['4', ['express@4.22.1', '@types/express@4.17.25']],
])('the route for Express %s', (version, packages) => {
  const servers = new NodeServers(FILE, packages, (code) =>
    withLines(code, MADE, 'app.use(express.json());'),
  );
  const started: Receiver[] = [];

  describeReceiver({
    install: () => servers.install(),
    launch: (variant) => servers.launch(variant),
    advice: /put its route before app\.use\(express\.json\(\)\)/,
  });

  describe('takes the bytes', () => {
    const [, keeping = ''] = /`(app\.use\(express\.json\(\{ verify: .*?\}\)\))`/.exec(pageText) ?? [];

    test.each([
      ['that a parser has kept, as the page says', keeping],
      ['of express.raw', `app.use(express.raw({ type: 'application/json' }));`],
    ])('%s', async (title, line) => {
      const code = withLines(programOf(FILE), MADE, line);
      const receiver = await startReceiver(() => servers.launchCode(title, code));
      started.push(receiver);
      expect((await receiver.post(delivery())).status).toBe(204);
      const { body, ...sent } = delivery();
      expect((await receiver.post({ ...sent, body: `${body} ` })).status).toBe(400);
    });

    test('that a parser has kept, of bodies that are longer than its own limit', async () => {
      const receiver = await startReceiver(() =>
        servers.launchCode('long', withLines(programOf(FILE), MADE, keeping)),
      );
      started.push(receiver);
      expect((await receiver.post(delivery({ paddingBytes: BEYOND_DEFAULT_LIMIT }))).status).toBe(204);
    });
  });

  test('answers 500 where an empty body was read before, and the log says what to do', async () => {
    const code = withLines(programOf(FILE), MADE, EMPTYING);
    const receiver = await startReceiver(() => servers.launchCode('emptied', code));
    started.push(receiver);
    expect((await receiver.post({ ...delivery(), body: '' })).status).toBe(500);
    const said = await receiver.program.says('could verify its bytes');
    expect(said).toMatch(/put its route before app\.use\(express\.json\(\)\)/);
  });

  test.each(['toleranceSeconds', 'maxBytes'])('does not start where %s is not a number', async (name) => {
    const route = 'receiveWebhooks(secrets, store';
    const code = replaced(programOf(FILE), route, `${route}, { ${name}: Number(undefined) }`);
    const said = await saidAtStart(() => servers.launchCode(name, code));
    expect(said).toMatch(`${name} must be a number`);
  });

  afterAll(async () => {
    await Promise.all(started.map(({ program }) => program.stop()));
    servers.remove();
  });

  test(`compiles strictly with the types of Express ${version}`, async () => {
    expect(await servers.complaints()).toBe('');
  });
});

describe('alone, as the listener of a server of Node.js, outlives a connection that breaks', () => {
  let receiver: Receiver;

  async function start(module: string): Promise<void> {
    const project = await Project.install();
    project.javascript('store', programOf('store.ts'));
    const server = project.javascript('server', alone(module));
    const command = [process.execPath, server];
    receiver = await startReceiver(() => ({ command, cwd: project.folder, ready: 'listening' }));
  }

  afterEach(() => receiver.program.stop());

  test('of HTTP/1.1', async () => {
    await start('node:http');
    const broken = request(receiver.url, { method: 'POST', headers: { 'content-length': 10 } });
    broken.once('error', () => undefined).write('{');
    await receiver.program.says('begun');
    broken.destroy();
    await receiver.program.says('closed');
    expect((await receiver.post(delivery())).status).toBe(204);
  });

  test('of HTTP/2', async () => {
    await start('node:http2');
    const broken = connect(receiver.url);
    broken.request({ ':method': 'POST' }).write('{');
    await receiver.program.says('begun');
    broken.destroy();
    await receiver.program.says('closed');
    const { body, headers } = delivery();
    const client = connect(receiver.url);
    const stream = client.request({ ':method': 'POST', ...headers }).end(body);
    const [answer] = await once(stream, 'response');
    client.destroy();
    expect(answer[':status']).toBe(204);
  });
});
