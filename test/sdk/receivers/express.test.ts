import { afterAll, describe, expect, test } from '@jest/globals';
import { describeReceiver, type Receiver, startReceiver } from './behaviour.js';
import { NodeServers } from './node-project.js';
import { pageText, programOf, withLines } from './page-programs.js';
import { delivery } from './requests.js';

const FILE = 'express-server.ts';
const MADE = 'const app = express();';

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
  });

  afterAll(async () => {
    await Promise.all(started.map(({ program }) => program.stop()));
    servers.remove();
  });

  test(`compiles strictly with the types of Express ${version}`, async () => {
    expect(await servers.complaints()).toBe('');
  }, 60_000);
});
