import { afterAll, describe, expect, test } from '@jest/globals';
import { describeReceiver, startReceiver } from './behaviour.js';
import { NodeServers } from './node-project.js';
import { programOf, withLines } from './page-programs.js';
import { delivery, post } from './requests.js';

const FILE = 'fastify-server.ts';
const MADE = `const app = Fastify({ logger: { level: 'error' } });`;
const READING = `app.addHook('onRequest', async ({ raw }) => { for await (const _ of raw.iterator({ destroyOnReturn: false })); });`;

describe('the plugin for Fastify', () => {
  const servers = new NodeServers(FILE, ['fastify@5.12.8'], (code) => withLines(code, MADE, READING));
  afterAll(() => servers.remove());

  describeReceiver({
    install: () => servers.install(),
    launch: (variant) => servers.launch(variant),
    advice: /no hook may read the body of this route/,
  });

  test('leaves the other routes their parser', async () => {
    const route = `app.post('/echo', async (request) => ({ name: request.body.name }));`;
    const code = withLines(programOf(FILE), MADE, route);
    const receiver = await startReceiver(() => servers.launchCode('with an echo', code));
    try {
      const headers = { 'content-type': 'application/json' };
      const echo = await post(receiver.url.replace('/events', '/echo'), { body: '{"name":"Ada"}', headers });
      expect(echo).toEqual({ status: 200, text: '{"name":"Ada"}' });
      expect((await receiver.post(delivery())).status).toBe(204);
    } finally {
      await receiver.program.stop();
    }
  });

  test('compiles strictly with the types of Fastify', async () => {
    expect(await servers.complaints()).toBe('');
  });
});
