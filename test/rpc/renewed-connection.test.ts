import { EventEmitter, once, setMaxListeners } from 'node:events';
import { type Client, connectivityState, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { RenewedConnection } from '../../src/rpc/connect.js';
import { serve } from '../../src/rpc/handlers.js';
import { addHealth } from '../../src/rpc/health.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { rpcRigs, TOKENS } from './rig.js';
import { CuttingProxy } from './short-calls/cutting-proxy.js';
import { textService, textsAnsweredBy } from './short-calls/text-service.js';

const REQUEST = { read: undefined, rest: undefined };
/** Beyond the thousand or so cancelled calls that a server takes on a connection; those for lists are two. */
const ROUNDS = 150;
const LISTS_PER_ROUND = 20;
const SHORT_CALLS_PER_ROUND = 10;
/** As many cancelled calls as end the use of a connection. */
const MOST_CANCELLED = 500;

const page = (nextCursor: string) => ({ body: Buffer.alloc(0), nextCursor });

describe('connections over which calls are cancelled by the thousand', () => {
  const rigs = rpcRigs();

  test('end neither the lists nor the short calls that are under way', async () => {
    const events = new EventEmitter().setMaxListeners(0);
    const rig = await rigs.start([
      serve(DirectoryServiceService, {
        readRest: async function* (_, { signal }) {
          yield page('first');
          await Promise.race([once(signal, 'abort'), once(events, 'go on')]);
          yield page('second');
        },
      }),
      textsAnsweredBy(async (text, { signal }) => {
        events.emit('short call');
        await Promise.race([once(signal, 'abort'), once(events, 'go on')]);
        return `${text}!`;
      }),
    ]);
    const channel = rig.channel();
    const directory = channel.clientOf(DirectoryServiceService);
    const texts = channel.clientOf(textService);
    const call = { requestId: 'r', deadlineMs: LONGER_THAN_A_TEST_MS };
    const list = async () => {
      const messages = directory.readRest(REQUEST, call)[Symbol.asyncIterator]();
      await messages.next();
      return messages;
    };
    const shortCalls = async (count: number, signal?: AbortSignal) => {
      const reached = new Promise<void>((resolve) => {
        let begun = 0;
        const note = () => {
          begun += 1;
          if (begun === count) {
            events.removeListener('short call', note);
            resolve();
          }
        };
        events.on('short call', note);
      });
      const answers = Array.from({ length: count }, () => texts.ask('text', { ...call, signal }));
      const outcomes = Promise.allSettled(answers);
      await reached;
      return { outcomes };
    };
    const kept = [await list(), await list()];
    const { outcomes: keptOutcomes } = await shortCalls(1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const lists = await Promise.all(Array.from({ length: LISTS_PER_ROUND }, list));
      await Promise.all(lists.map((one) => one.return?.()));
      const leave = new AbortController();
      setMaxListeners(SHORT_CALLS_PER_ROUND, leave.signal);
      const left = await shortCalls(SHORT_CALLS_PER_ROUND, leave.signal);
      leave.abort();
      const cancelled = { status: 'rejected', reason: leave.signal.reason };
      expect(await left.outcomes).toEqual(Array.from({ length: SHORT_CALLS_PER_ROUND }, () => cancelled));
    }
    events.emit('go on');
    const seconds = await Promise.all(kept.map((one) => one.next()));
    expect(seconds).toMatchObject([{ value: { nextCursor: 'second' } }, { value: { nextCursor: 'second' } }]);
    expect(await keptOutcomes).toMatchObject([{ value: 'text!' }]);
  });
});

describe('a connection that is renewed', () => {
  function opening() {
    const opened: { client: Client; closed: boolean }[] = [];
    const connection = new RenewedConnection(() => {
      const client = {
        close: () => (one.closed = true),
        getChannel: () => ({ getConnectivityState: () => connectivityState.READY }),
      };
      const one = { client: client as unknown as Client, closed: false };
      opened.push(one);
      return one.client;
    });
    const begin = () => {
      let over: Client | undefined;
      const call = connection.begin((client) => {
        over = client;
        const call = new EventEmitter();
        return Object.assign(call, { cancel: () => call.emit('status', { code: status.CANCELLED }) });
      });
      const end = (code: number) => call.emit('status', { code });
      return { client: over, end };
    };
    const endMany = (times: number, code: number) => {
      for (let time = 0; time < times; time += 1) {
        begin().end(code);
      }
    };
    return { opened, connection, begin, endMany };
  }

  test.each([status.CANCELLED, status.DEADLINE_EXCEEDED])(
    'is so after many calls that ended with %i',
    (code) => {
      const { opened, begin, endMany } = opening();
      endMany(MOST_CANCELLED - 1, code);
      expect(opened).toHaveLength(1);
      endMany(1, code);
      expect(opened).toHaveLength(2);
      expect(begin().client).toBe(opened[1]?.client);
    },
  );

  test('stays the same for any number of calls that were answered or refused', () => {
    const { opened, endMany } = opening();
    endMany(10 * MOST_CANCELLED, status.OK);
    endMany(10 * MOST_CANCELLED, status.RESOURCE_EXHAUSTED);
    expect(opened).toHaveLength(1);
  });

  test('closes the old one when its last call ends, and not before', () => {
    const { opened, begin, endMany } = opening();
    const [first, last] = [begin(), begin()];
    endMany(MOST_CANCELLED, status.CANCELLED);
    first.end(status.OK);
    expect(opened.map(({ closed }) => closed)).toEqual([false, false]);
    last.end(status.CANCELLED);
    expect(opened.map(({ closed }) => closed)).toEqual([true, false]);
  });

  test('ends all calls and closes their connections when it is broken, and goes on with a new one', () => {
    const { opened, connection, begin, endMany } = opening();
    begin();
    endMany(MOST_CANCELLED, status.CANCELLED);
    begin();
    expect(connection.underWay).toBe(2);
    connection.break();
    expect(connection.underWay).toBe(0);
    expect(opened.map(({ closed }) => closed)).toEqual([true, true, false]);
    expect(begin().client).toBe(opened[2]?.client);
  });

  test('closes the new one and those still in use when it is closed', () => {
    const { opened, connection, begin, endMany } = opening();
    begin();
    endMany(MOST_CANCELLED, status.CANCELLED);
    connection.close();
    expect(opened.map(({ closed }) => closed)).toEqual([true, true]);
  });
});

describe('a connection that is accepted and never answered', () => {
  const rigs = rpcRigs();
  const opened: { close(): void }[] = [];
  afterEach(() => {
    for (const one of opened.splice(0)) {
      one.close();
    }
  });

  test.each([
    ['the only server', 1],
    ['each of several servers', 2],
  ])('is made again, to %s', async (_, count) => {
    const { address } = await rigs.start([textsAnsweredBy((text) => `${text}!`)], {
      address: '127.0.0.1:0',
      prepare: (server) => addHealth(server, async () => 'SERVING'),
    });
    const proxies = await Promise.all(
      Array.from({ length: count }, () => CuttingProxy.start(undefined, address)),
    );
    for (const proxy of proxies) {
      proxy.freeze();
    }
    const addresses = proxies.map((proxy) => proxy.address).join();
    const channel = new RpcChannel(addresses, TOKENS.edge, { connectMs: 200 });
    opened.push(channel, ...proxies);
    const ask = () => channel.clientOf(textService).ask('text', { requestId: 'r' });
    const first = ask().catch(() => undefined);
    await eventually('connections to all', () => proxies.every(({ connections }) => connections > 0));
    for (const proxy of proxies) {
      proxy.restart();
    }
    await first;
    expect(await eventually('an answer', () => ask().catch(() => undefined))).toBe('text!');
    await eventually('the end of unanswered connections', () =>
      proxies.every(({ unanswered }) => unanswered === 0),
    );
    const states = count === 1 ? ['unasked'] : ['serving', 'serving'];
    await eventually('the state', () => channel.reports().every(({ state }, at) => state === states[at]));
  });
});
