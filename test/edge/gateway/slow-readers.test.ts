import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from '@jest/globals';
import { PAGE_BYTES } from '../../../src/domain/directory/page.js';
import type { ListenerOptions } from '../../../src/edge/http/listener.js';
import { STREAM_BYTES } from '../../../src/edge/http/unsent-answers.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { eventually } from '../../support/eventually.js';
import { aWorker, bytesOf, firstOf } from '../../support/gateway/directory-answers.js';
import { type Gateway, startGateway } from '../../support/gateway/gateway.js';
import { operationNamed, pathOf } from '../../support/gateway/operations.js';
import { untilStill } from '../../support/until-still.js';

const LIST = operationNamed('listWorkers');
const SHORT = operationNamed('listJobTitles');
/** More than an HTTP/2 connection between the roles carries calls. */
const READERS = 300;
/** As many lists as one key may read at once. */
const LISTS_PER_KEY = 64;
const PAGE = Array.from({ length: 250 }, () => aWorker());

let gateway: Gateway;
const readers: Socket[] = [];

afterEach(async () => {
  for (const reader of readers.splice(0)) {
    reader.destroy();
  }
  await gateway.stop();
});

/** A gateway with an endless list of workers, and the number of open calls for it. */
async function endlessLists(limits: Partial<ListenerOptions> = {}, page = PAGE, everyMs = 0) {
  gateway = await startGateway('demo', limits);
  const lists = { begun: 0, over: 0, made: 0 };
  gateway.program({
    read: async ({ operationId }) =>
      operationId === SHORT.operationId ? firstOf('v1', ['Baker']) : firstOf('v1', page, { hasRest: true }),
    readRest: async function* () {
      lists.begun += 1;
      try {
        for (;;) {
          if (everyMs > 0) {
            // Without a reference: the worker need not wait for lists that have been left.
            await sleep(everyMs, undefined, { ref: false });
          }
          lists.made += 1;
          yield { body: bytesOf(page) };
        }
      } finally {
        lists.over += 1;
      }
    },
  });
  return lists;
}

/** Asks for the list and takes nothing of the answer. */
async function reader(times = 1, key = gateway.key): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1');
  readers.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${pathOf(LIST)} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`.repeat(times));
  return socket;
}

describe('readers that take nothing of long lists', () => {
  test('are disconnected when they stall, and their calls in the domain end at once; other readers continue', async () => {
    const lists = await endlessLists({ stallTimeoutMs: 5_000 });
    const [taking] = await Promise.all(Array.from({ length: 4 }, () => reader()));
    taking?.resume();
    await eventually('all lists begun', () => lists.begun === 4);
    // Less than a reader may take for a piece.
    await eventually('the lists of the others over', () => lists.over === 3, 45_000);
    expect(taking?.destroyed).toBe(false);
  });

  test('that leave end their calls in the domain at once', async () => {
    const lists = await endlessLists();
    const socket = await reader();
    await eventually('the list begun', () => lists.begun === 1);
    socket.destroy();
    await eventually('the list over', () => lists.over === 1);
  });

  test('that leave end also the calls of requests that wait for their turn on the connection', async () => {
    const lists = await endlessLists();
    const socket = await reader(5);
    await eventually('all lists begun', () => lists.begun === 5);
    socket.destroy();
    await eventually('all lists over', () => lists.over === 5);
  });
});

test('readers that take nothing of lists of large records hold as much memory as is counted for them', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    // Without external memory, which V8 counts as free only later.
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const lists = await endlessLists({}, [aWorker({ phone: 'x'.repeat(PAGE_BYTES - 1_000) })]);
  const before = used();
  await Promise.all(Array.from({ length: 30 }, () => reader()));
  await untilStill('the domain', () => lists.made);
  // The domain of the test is in the same process, with as many messages as it may make ahead.
  expect((used() - before) / 30).toBeLessThan(3 * STREAM_BYTES);
});

test('lists that take long leave room for short answers, however many they are', async () => {
  const lists = await endlessLists({}, [aWorker()], 500);
  await Promise.all(Array.from({ length: READERS }, () => reader(1, newApiKey('demo'))));
  await eventually('more lists begun than a connection carries calls', () => lists.begun > 256);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => gateway.ask(SHORT.operationId, pathOf(SHORT))),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
});

test('one list too many of a key is refused without a call to the domain, and other keys are not', async () => {
  const lists = await endlessLists({}, [aWorker()], 500);
  const held = await Promise.all(Array.from({ length: LISTS_PER_KEY }, () => reader()));
  await eventually('all lists begun', () => lists.begun === LISTS_PER_KEY);
  const refusal = await gateway.ask(LIST.operationId, pathOf(LIST));
  expect([refusal.status, lists.begun]).toEqual([429, LISTS_PER_KEY]);
  expect(refusal.headers['retry-after']).toMatch(/^([5-9]|1[0-4])$/);
  await reader(1, newApiKey('demo'));
  await eventually('the list of another key begun', () => lists.begun === LISTS_PER_KEY + 1);
  held[0]?.destroy();
  await eventually('a list over', () => lists.over === 1);
  await reader();
  await eventually('a list begun in its place', () => lists.begun === LISTS_PER_KEY + 2);
});
