import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { newPostgresDatabase } from '../support/databases.js';
import { freePorts } from '../support/free-ports.js';
import { serviceProcesses } from '../support/service-process.js';

const services = serviceProcesses();
const closings: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) {
    await close();
  }
});

/** A database, and a port that leads to it once it is opened. */
async function databaseBehindPort() {
  const { url, drop } = await newPostgresDatabase();
  closings.push(drop);
  const [port] = await freePorts(1);
  const way = Object.assign(new URL(url), { port: String(port) }).href;
  const open = async () => {
    const server = createServer((client) => {
      const behind = connect(Number(new URL(url).port), '127.0.0.1');
      client.pipe(behind).pipe(client);
      client.on('error', () => behind.destroy());
      behind.on('error', () => client.destroy());
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    closings.push(() => server.close());
  };
  return { url, way, open };
}

const waits = ({ msg }: { msg?: unknown }) => msg === 'the database cannot be used yet';

/** As on a disk without room for one more file. */
const SOCKET_FAILS = `
  import { Server } from 'node:net';
  const { listen } = Server.prototype;
  Server.prototype.listen = function (target, ...others) {
    if (!target.path?.endsWith('domain.sock')) {
      return listen.call(this, target, ...others);
    }
    const failure = new Error('listen ENOSPC: no space left on device ' + target.path);
    process.nextTick(() => this.emit('error', Object.assign(failure, { code: 'ENOSPC' })));
  };
`;

test('a domain that cannot make its socket for now ends so that it is started again', async () => {
  const preload = `data:text/javascript,${encodeURIComponent(SOCKET_FAILS)}`;
  const env = { NODE_OPTIONS: `--import=${preload}` };
  const service = await services.launch({ command: 'domain', env });
  expect(await service.exited).toEqual({ code: 1, signal: null });
  expect(service.errors.text()).toMatch(/^The socket .*domain\.sock cannot be made: listen ENOSPC: /m);
});

describe('a domain whose database', () => {
  test('is not there yet waits for it, says why, and then starts', async () => {
    const { way, open } = await databaseBehindPort();
    const service = await services.launch({ command: 'domain', env: { DATABASE_URL: way } });
    const line = await service.output.nextLine(waits);
    expect(line).toMatchObject({
      level: 'warn',
      reason: expect.stringContaining('The service cannot connect to PostgreSQL'),
    });
    await open();
    await service.ready();
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  test('is not there yet ends when it is asked to', async () => {
    const env = { DATABASE_URL: 'postgres://nobody:secret-word@127.0.0.1:9/none' };
    const service = await services.launch({ command: 'domain', env });
    await service.output.nextLine(waits);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.output.text() + service.errors.text()).not.toContain('secret-word');
  });

  test.each([
    { title: 'refuses the password', change: { password: 'wrong' } },
    { title: 'is not on the server', change: { pathname: '/missing' } },
  ])('$title is not asked again', async ({ change }) => {
    const { url } = await databaseBehindPort();
    const wrong = new URL(url);
    Object.assign(wrong, change);
    const env = { DATABASE_URL: wrong.href };
    const service = await services.launch({ command: 'domain', env });
    expect(await service.exited).toEqual({ code: 78, signal: null });
    expect(service.errors.text()).toContain('The service cannot connect to PostgreSQL: ');
  });
});
