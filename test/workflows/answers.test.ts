import dns from 'node:dns';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { untilAnswered } from '../../workflows/worker.js';
import { freePort } from './temporal-fixture.js';

const LIMIT_MS = 10_000;
const going = new AbortController().signal;
let server: Server | undefined;

afterEach(() => {
  jest.restoreAllMocks();
  server?.close();
});

type Found = (error: Error | null, addresses?: dns.LookupAddress[]) => void;

/** What the name server answers. */
function lookUp(answer: (found: Found) => void): void {
  jest
    .spyOn(dns, 'lookup')
    .mockImplementation(((_: string, __: unknown, found: Found) => answer(found)) as never);
}

function addresses(...given: string[]): dns.LookupAddress[] {
  return given.map((address) => ({ address, family: 4 }));
}

async function serve(host: string): Promise<number> {
  const started = createServer((socket) => socket.end());
  server = started;
  await new Promise<void>((resolve) => started.listen(0, host, resolve));
  return (started.address() as { port: number }).port;
}

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '[::1]'],
])('a server at %s answers', async (host, named) => {
  await untilAnswered(`${named}:${await serve(host)}`, LIMIT_MS, going);
});

test('a server at one of several addresses answers', async () => {
  const port = await serve('127.0.0.1');
  lookUp((found) => found(null, addresses('127.0.0.2', '127.0.0.1')));
  await untilAnswered(`temporal.example:${port}`, LIMIT_MS, going);
});

describe('says that nothing answers', () => {
  test('at an address', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    await expect(untilAnswered(address, LIMIT_MS, going)).rejects.toThrow(`Nothing answers at ${address}.`);
  });

  test('at a name with several addresses', async () => {
    const address = `temporal.example:${await freePort()}`;
    lookUp((found) => found(null, addresses('127.0.0.1', '127.0.0.2')));
    await expect(untilAnswered(address, LIMIT_MS, going)).rejects.toThrow(`Nothing answers at ${address}.`);
  });

  test('in time', async () => {
    lookUp(() => undefined);
    await expect(untilAnswered('temporal.example:7233', 20, going)).rejects.toThrow(
      'No answer from temporal.example:7233 within 0.02 seconds.',
    );
  });
});

test('a name that is not known is reported as such', async () => {
  const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND temporal.example'), {
    syscall: 'getaddrinfo',
  });
  lookUp((found) => found(unknown));
  await expect(untilAnswered('temporal.example:7233', LIMIT_MS, going)).rejects.toThrow(unknown.message);
});

test.each(['before', 'while'])('stops when it is stopped %s it connects', async (when) => {
  lookUp(() => undefined);
  const stop = new AbortController();
  if (when === 'before') {
    stop.abort();
  }
  const answered = untilAnswered('temporal.example:7233', LIMIT_MS, stop.signal);
  stop.abort();
  await answered;
});
